import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createTerminal } from '../output/terminal.ts'
import { checkConfigFile } from './check-command.ts'

const folder = mkdtempSync(join(tmpdir(), 'causeway-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function check(name: string, content: string): { status: number; lines: string[] } {
  const file = join(folder, name)
  writeFileSync(file, content)
  const lines: string[] = []
  const terminal = { ...createTerminal(), print: (line: string) => void lines.push(line.replaceAll(`${folder}/`, '')) }
  return { status: checkConfigFile({ file, json: false, terminal }), lines }
}

test('says all that is wrong with a tenant’s configuration by path, and fails', () => {
  const text = 'sync:\n  toHost:\n    pods: { enabled: maybe }\n    ingres: {}\nnodes: { model: dedicated }\n'
  expect(check('tenant.yaml', text)).toEqual({
    status: 1,
    lines: [
      'tenant.yaml: sync.toHost.pods.enabled: must be true or false, not "maybe"',
      'tenant.yaml: sync.toHost.ingres: is no known key; did you mean sync.toHost.ingresses?',
      'tenant.yaml: nodes.selector: is empty: say by which labels a dedicated tenant’s nodes are known',
      'tenant.yaml: 3 problems',
    ],
  })
})

test('names the path and the expression of a patch that cannot be used', () => {
  const patches = '[{ path: metadata.uid, expression: value }, { path: spec.a, expression: "value.slice(1)" }]'
  expect(check('tenant.yaml', `sync:\n  toHost:\n    services:\n      patches: ${patches}\n`)).toEqual({
    status: 1,
    lines: [
      'tenant.yaml: sync.toHost.services.patches[0]: path "metadata.uid" cannot be patched: of metadata only labels and annotations can be, by key',
      expect.stringMatching(
        /^tenant\.yaml: sync\.toHost\.services\.patches\[1\]: expression of "spec\.a" cannot be used: .*CEL, not JavaScript.*: value\.slice\(1\)$/,
      ),
      'tenant.yaml: 2 problems',
    ],
  })
})

test('accepts a vcluster.yaml and lists once what has no meaning here', () => {
  const text =
    'controlPlane:\n  statefulSet: { highAvailability: { replicas: 3 } }\nsync:\n  toHost: { ingresses: { enabled: true } }\ntelemetry: { enabled: false }\n'
  expect(check('vcluster.yaml', text)).toEqual({
    status: 0,
    lines: ['vcluster.yaml: ignored, as it has no meaning here: controlPlane, telemetry', 'vcluster.yaml: valid'],
  })
})

test('checks the configurations of all tenants in a causeway.yaml, and the file itself', () => {
  const text =
    'tenants:\n  - { name: a, config: { nods: {} } }\n  - { name: b, configFile: missing.yaml }\n  - { nam: c }\n'
  const { status, lines } = check('causeway.yaml', text)
  expect(status).toBe(1)
  expect(lines[0]).toBe('causeway.yaml: tenants[0].config.nods: is no known key; did you mean nodes?')
  expect(lines[1]).toMatch(/^missing\.yaml: ENOENT/)
  expect(lines.slice(2)).toEqual([
    'causeway.yaml: tenants[2].nam: unknown key; known are name, kubeconfig, namespace, config, configFile',
    'causeway.yaml: tenants[2].name: is missing',
    'causeway.yaml: 4 problems',
  ])
})

test.each([
  ['an empty file', ''],
  ['one with comments alone', '# sync:\n'],
  ['an empty mapping', '{}\n'],
])('says of %s that the defaults hold', (_what, text) => {
  expect(check('empty.yaml', text)).toEqual({
    status: 0,
    lines: ['empty.yaml: nothing is configured: the defaults hold', 'empty.yaml: valid'],
  })
})

test('a file that cannot be read is an error', () => {
  const lines: string[] = []
  const terminal = { ...createTerminal(), print: (line: string) => void lines.push(line) }
  expect(checkConfigFile({ file: join(folder, 'none.yaml'), json: false, terminal })).toBe(1)
  expect(lines[0]).toMatch(/none\.yaml: ENOENT/)
  expect(checkConfigFile({ file: folder, json: false, terminal })).toBe(1)
})

test('a file that is no YAML is a problem of its own', () => {
  const { status, lines } = check('broken.yaml', 'sync: [')
  expect(status).toBe(1)
  expect(lines[0]).toMatch(/^broken\.yaml: /)
})
