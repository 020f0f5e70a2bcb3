import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { pipelineEnv, parsePipelineConfig } from '#libs/config'
import { HEADERS, REASONS, STREAMS } from '#libs/events'
import { REMEDIES, VERDICTS } from '#libs/explain'
import { METRICS } from '#libs/telemetry'
import { ANNOTATIONS, DECIDE_ORDER, KINDS, LABELS, REPORTS, RULES, SWITCHES } from '#libs/translation'
import { ConfigError } from '#libs/kernel'
import { createWriterMetrics } from '../services/writer/metrics.ts'

/* What the documents list is held to the code that they describe, and their links to what is there. */

const root = join(import.meta.dirname, '..')
const documents = markdownFiles(root)

/** First cells of the rows of a document's tables, as they stand in code marks. */
function firstCells(path: string): string[] {
  return [...read(path).matchAll(/^\| *`([^`]+)`/gm)].flatMap((match) => match[1] ?? [])
}

/** Everything in code marks. */
function codeWords(path: string): Set<string> {
  return new Set([...read(path).matchAll(/`([^`\n]+)`/g)].flatMap((match) => match[1] ?? []))
}

test('every reason and every verdict is explained, and no other', () => {
  expect(firstCells('docs/reasons.md')).toEqual([...REASONS, ...VERDICTS])
})

test('of every reason and verdict it is said what it means and what to do', () => {
  const rows = [...read('docs/reasons.md').matchAll(/^\| `[^`]+` \|(.+)\|$/gm)]
  expect(rows).toHaveLength(REASONS.length + VERDICTS.length)
  const incomplete = rows.filter(([, cells = '']) => {
    const [means = '', todo = ''] = cells.split(' | ').map((cell) => cell.trim())
    return means.length < 10 || todo.length < 5
  })
  expect(incomplete.map(([row]) => row)).toEqual([])
  const without = [...REASONS, ...VERDICTS].filter((reason) => REMEDIES[reason] === undefined)
  expect(without).toEqual(['InSync'])
})

test('every rule of deciding is explained, and no other', () => {
  const rules = section('docs/architecture.md', 'Rules of deciding')
  const listed = [...rules.matchAll(/^\| `([^`]+)`/gm)].flatMap((match) => match[1] ?? [])
  expect(listed.toSorted()).toEqual(Object.keys(RULES).toSorted())
})

test('every kind that crosses is in the table of kinds', () => {
  const crossing = [...Object.keys(KINDS), ...DECIDE_ORDER, ...Object.keys(REPORTS)]
  expect(firstCells('docs/translation.md')).toEqual(expect.arrayContaining([...new Set(crossing)]))
})

test('every stamp and switch is explained', () => {
  const text = read('docs/translation.md')
  for (const key of [...Object.values(LABELS), ...Object.values(ANNOTATIONS), ...Object.values(SWITCHES)])
    expect(text).toContain(key)
})

test('every header and stream of the log is explained', () => {
  const words = codeWords('docs/contracts.md')
  for (const name of [...Object.values(HEADERS), ...Object.values(STREAMS)]) expect(words).toContain(name)
})

test('every setting is explained with its default, and no other', () => {
  const listed = firstCells('docs/operations.md').filter((name) => name.startsWith('CAUSEWAY_'))
  const known = knownSettings()
  expect(listed.toSorted()).toEqual(known.toSorted())
  const defaults = pipelineEnv(parsePipelineConfig({}))
  const text = read('docs/operations.md')
  for (const [name, value] of Object.entries(defaults)) expect(text).toContain(`| \`${name}\` | \`${value}\` |`)
})

test('every metric is explained, and no other', async () => {
  const registry = new Registry()
  createWriterMetrics(registry)
  const registered = (await registry.getMetricsAsJSON()).map(({ name }) => name)
  const names = new Set([...registered, ...Object.values(METRICS).map(({ name }) => name)])
  const listed = firstCells('docs/operations.md').filter((name) => name.startsWith('causeway_'))
  expect(listed.toSorted()).toEqual([...names].toSorted())
})

test('every relative link leads to a file, and every anchor to a heading in it', () => {
  const broken = documents.flatMap((path) =>
    linksOf(path).filter((link) => {
      const [file = '', anchor] = link.split('#')
      const target = file === '' ? path : relative(root, join(root, dirname(path), file))
      if (!existsSync(join(root, target))) return true
      return anchor !== undefined && !anchorsOf(target).includes(anchor)
    }),
  )
  expect(broken).toEqual([])
})

test('every test that holds an invariant is there under its title', () => {
  const text = section('docs/architecture.md', 'Invariants')
  expect(missingTests(text)).toEqual([])
  expect(text.match(/^\d+\. \*\*/gm)).toHaveLength(10)
})

test('every fault that is not to be here has tests against it, and they are there', () => {
  const rows = section('docs/testing.md', 'Faults that are not here').match(/^\| .*$/gm) ?? []
  const [, ...faults] = rows
  expect(faults.length).toBeGreaterThan(30)
  expect(faults.filter((row) => !/`(?:libs|services|test)\/[^`]+`/.test(row.split('|')[2] ?? ''))).toEqual([])
  expect(faults.flatMap(missingTests)).toEqual([])
})

test('files and folders that the documents name are there', () => {
  const named = /^(?:libs|services|test|deploy|docs)\/[\w./-]+$/
  const missing = documents.flatMap((path) =>
    [...codeWords(path)].filter((word) => named.test(word) && !existsSync(join(root, word))),
  )
  expect(missing).toEqual([])
})

test('scripts that the documents run are there', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const run = documents.flatMap((path) =>
    [...read(path).matchAll(/npm run (?:-s )?([\w:]+)/g)].map((match) => match[1]),
  )
  expect(run.length).toBeGreaterThan(5)
  for (const script of run) expect(Object.keys(scripts)).toContain(script)
})

test('every decision is in the list of decisions', () => {
  const pages = readdirSync(join(root, 'docs/adr')).filter((file) => /^\d{4}-/.test(file))
  const list = read('docs/adr/README.md')
  for (const page of pages) expect(list).toContain(`(${page})`)
})

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** Titles that a text names behind files, and that are not in them. */
function missingTests(text: string): string[] {
  const missing: string[] = []
  for (const [, path = '', titles = ''] of text.matchAll(/`([^`]+\.ts)`((?:,?\s+“[^”]+”)+)/g)) {
    const source = read(path)
    for (const [, title = ''] of titles.matchAll(/“([^”]+)”/g)) if (!source.includes(title)) missing.push(title)
  }
  return missing
}

function section(path: string, heading: string): string {
  return (
    read(path)
      .split(/^## /m)
      .find((part) => part.startsWith(`${heading}\n`)) ?? ''
  )
}

/** The settings, as the refusal of an unknown one lists them. */
function knownSettings(): string[] {
  try {
    parsePipelineConfig({ CAUSEWAY_NO_SUCH_SETTING: '1' })
  } catch (error) {
    const [, list = ''] = /known are (.*)$/m.exec(error instanceof ConfigError ? error.message : '') ?? []
    return list.split(', ')
  }
  return []
}

function markdownFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return /^(\.|node_modules)/.test(entry.name) ? [] : markdownFiles(path)
    return entry.name.endsWith('.md') ? [relative(root, path)] : []
  })
}

function linksOf(path: string): string[] {
  return [...read(path).matchAll(/\]\(([^)\s]+)\)/g)]
    .flatMap((match) => match[1] ?? [])
    .filter((link) => !/^\w+:/.test(link))
}

/** Anchors as they are made of headings. */
function anchorsOf(path: string): string[] {
  return [...read(path).matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}
