import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/*
 * Which parts may import which: the layers of docs/architecture.md, readable in one place. .oxlintrc.json tells of most
 * violations in the editor; this test is the whole rule.
 */

/** Libs by layer, each with the libs that it may import. A lib imports from lower layers only. */
const LAYERS: Record<string, readonly string[]>[] = [
  // Words and data. No dependencies.
  { kernel: [], 'kube-model': [] },
  // Pure: data in, data out. No Node modules, no packages but the schema library and the language of expressions.
  {
    events: ['kernel', 'kube-model'],
    'sync-config': ['kernel', 'kube-model'],
    expressions: ['kube-model'],
    translation: ['kernel', 'kube-model', 'events', 'sync-config', 'expressions'],
  },
  // What every process needs.
  { config: ['kernel'], telemetry: ['kernel'] },
  // Adapters to the outside. They never import one another, but that the projection is told how to open what is sealed.
  {
    vault: ['kernel', 'kube-model'],
    kube: ['kernel', 'kube-model', 'events', 'translation', 'config', 'telemetry'],
    bus: ['kernel', 'kube-model', 'events', 'translation', 'config', 'telemetry'],
    projection: ['kernel', 'kube-model', 'events', 'translation', 'config', 'telemetry', 'vault'],
  },
  // What services have in common.
  {
    runtime: [
      'kernel',
      'kube-model',
      'events',
      'sync-config',
      'translation',
      'config',
      'telemetry',
      'vault',
      'kube',
      'bus',
    ],
  },
  // What people are told, by the command line and the console.
  {
    explain: [
      'kernel',
      'kube-model',
      'events',
      'sync-config',
      'translation',
      'vault',
      'kube',
      'bus',
      'projection',
      'runtime',
      'telemetry',
    ],
  },
  // The log as a file, for SQL.
  { replay: ['kernel', 'kube-model', 'events', 'translation', 'vault', 'bus', 'projection', 'explain'] },
]

/** Packages that one place alone may use, so that they can be exchanged there. Types may be used anywhere. */
const PACKAGES: Record<string, readonly string[]> = {
  '@kubernetes/client-node': ['libs/kube/auth/'],
  '@marcbachmann/cel-js': ['libs/expressions/'],
  '@nats-io/': ['libs/bus/'],
  '@opentelemetry/': ['libs/telemetry/'],
  'better-sqlite3': ['libs/projection/', 'libs/replay/', 'services/apiserver/'],
  commander: ['services/cli/'],
  'lit-html': ['services/console/web/'],
  pino: ['libs/telemetry/'],
  'prom-client': ['libs/telemetry/'],
  undici: ['libs/kube/'],
  yaml: ['libs/kube/auth/', 'services/'],
  zod: ['libs/config/', 'libs/sync-config/', 'libs/runtime/', 'services/console/'],
}

/** The one place that knows several services: it puts their roles into one process. */
const COMPOSITION_ROOT = 'services/cli/compose.ts'

/** Layers whose code is pure. */
const PURE = new Set(Object.keys(LAYERS[1] ?? {}))

type Import = { from: string; to: string; isTypeOnly: boolean }

const root = fileURLToPath(new URL('..', import.meta.url))
const libs = new Map(
  LAYERS.flatMap((layer, level) => Object.entries(layer).map(([name, may]) => [name, { level, may }])),
)
const isTest = (path: string): boolean => path.endsWith('.test.ts') || path.includes('/testing/')

function filesUnder(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file}`)
    .filter((file) => file.endsWith('.ts'))
}

function importsOf(path: string): Import[] {
  const text = readFileSync(join(root, path), 'utf8')
  const found: Import[] = []
  const statements = /^(?:import|export)\s+(type\s+)?(?:([^'"`;]*?)\s+from\s+)?'([^']+)'/gms
  for (const [, type, names = '', to = ''] of text.matchAll(statements)) {
    const specifiers = /\{(.*)\}/s
      .exec(names)?.[1]
      ?.split(',')
      .filter((name) => name.trim() !== '')
    const isTypeOnly = type !== undefined || (specifiers?.every((name) => name.trim().startsWith('type ')) ?? false)
    found.push({ from: path, to, isTypeOnly })
  }
  for (const [, to = ''] of text.matchAll(/\bimport\(\s*'([^']+)'/g)) found.push({ from: path, to, isTypeOnly: false })
  return found
}

/** Where a relative import leads, from the root of the repository. */
const target = ({ from, to }: Import): string => relative(root, resolve(root, dirname(from), to))
const shown = (list: Import[]): string[] => list.map(({ from, to }) => `${from} imports ${to}`)

test('reads imports of every form', () => {
  const of = (path: string): string[] => importsOf(path).map(({ to }) => to)
  expect(of('libs/kube/auth/load-cluster-config.ts').concat(of('libs/kube/auth/plugin-access.ts'))).toEqual(
    expect.arrayContaining(['@kubernetes/client-node']),
  )
  expect(of('test/architecture.test.ts')).toEqual(['node:fs', 'node:path', 'node:url', 'vitest'])
  expect(of('libs/kernel/index.ts')).toContain('./clock.ts')
})

const libFiles = filesUnder('libs')
const serviceFiles = filesUnder('services')
const imports = [...libFiles, ...serviceFiles].flatMap(importsOf)
const libOf = (path: string): string => path.split('/')[1] ?? ''

test('the table names every lib, and each lib imports lower layers only', () => {
  expect([...libs.keys()].toSorted()).toEqual(readdirSync(join(root, 'libs')).toSorted())
  for (const [name, { level, may }] of libs) {
    for (const other of may) {
      const isBelow = (libs.get(other)?.level ?? Infinity) < level
      const isGranted = name === 'translation' || `${name} ${other}` === 'projection vault'
      expect(isBelow || isGranted, `${name} may import ${other}`).toBe(true)
    }
  }
})

describe('libs', () => {
  test('import one another as the table says', () => {
    const wrong = imports.filter(({ from, to }) => {
      const other = /^#libs\/([^/]+)/.exec(to)?.[1]
      if (other === undefined || !from.startsWith('libs/') || isTest(from)) return false
      return !(libs.get(libOf(from))?.may.includes(other) ?? false)
    })
    expect(shown(wrong)).toEqual([])
  })

  test('are entered by their door alone', () => {
    const wrong = imports.filter((item) => {
      if (item.to.startsWith('#libs/')) return !/^#libs\/[^/]+(\/testing)?$/.test(item.to)
      if (!item.to.startsWith('.')) return false
      const [folder, name] = target(item).split('/')
      return folder === 'libs' && !item.from.startsWith(`libs/${name}/`)
    })
    expect(shown(wrong)).toEqual([])
  })

  test('what is for tests is used by tests alone', () => {
    const wrong = imports.filter(({ from, to }) => /^#libs\/[^/]+\/testing$/.test(to) && !isTest(from))
    expect(shown(wrong)).toEqual([])
  })

  test('that are pure use neither Node nor packages, but for the two that the table names', () => {
    const wrong = imports.filter(
      ({ from, to }) =>
        PURE.has(libOf(from)) &&
        from.startsWith('libs/') &&
        !isTest(from) &&
        !/^(\.|#libs\/|(zod|@marcbachmann\/cel-js)$)/.test(to),
    )
    expect(shown(wrong)).toEqual([])
  })

  test('know no service', () => {
    const wrong = imports.filter((item) => item.from.startsWith('libs/') && target(item).startsWith('services/'))
    expect(shown(wrong)).toEqual([])
  })
})

describe('services', () => {
  test('know no other service, but for the composition root', () => {
    const wrong = imports.filter((item) => {
      if (!item.from.startsWith('services/') || !item.to.startsWith('.') || item.from === COMPOSITION_ROOT) return false
      const [folder, name] = target(item).split('/')
      return folder === 'services' && name !== item.from.split('/')[1]
    })
    expect(shown(wrong)).toEqual([])
  })

  test('are entered by their role alone, by the composition root', () => {
    const outside = imports
      .filter((item) => item.from === COMPOSITION_ROOT && item.to.startsWith('.'))
      .map((item) => target(item))
    for (const path of outside) expect(path).toMatch(/^services\/[^/]+\/role\.ts$/)
  })
})

test('nothing but tests imports tests', () => {
  const wrong = imports.filter((item) => {
    if (!item.to.startsWith('.') || isTest(item.from)) return false
    return target(item).startsWith('test/') || item.to.endsWith('.test.ts')
  })
  expect(shown(wrong)).toEqual([])
})

test('what runs before the packages are installed is used by the bus alone', () => {
  const wrong = imports.filter(
    (item) => item.to.startsWith('.') && target(item).startsWith('deploy/') && !item.from.startsWith('libs/bus/'),
  )
  expect(shown(wrong)).toEqual([])
})

test('packages are used where the table says', () => {
  const wrong = imports.filter(({ from, to, isTypeOnly }) => {
    if (isTypeOnly || isTest(from)) return false
    const known = Object.entries(PACKAGES).find(([name]) => to === name || to.startsWith(name))
    return known !== undefined && !known[1].some((place) => from.startsWith(place))
  })
  expect(shown(wrong)).toEqual([])
})

test('every package is in the table', () => {
  const wrong = imports.filter(
    ({ from, to }) =>
      !/^(\.|#libs\/|node:)/.test(to) && !isTest(from) && !Object.keys(PACKAGES).some((name) => to.startsWith(name)),
  )
  expect(shown(wrong)).toEqual([])
})
