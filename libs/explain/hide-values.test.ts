import { expect, test } from 'vitest'
import { createVault } from '#libs/vault'
import { hideValues } from './hide-values.ts'

const key = { tenant: 'a', side: 'virtual', resource: 'secrets', namespace: 'n', name: 's' } as const
const vault = createVault({ active: 'k', keys: new Map([['k', Buffer.alloc(32, 1)]]) })
const other = createVault({ active: 'o', keys: new Map([['o', Buffer.alloc(32, 2)]]) })
const secret = (value: string) => ({
  kind: 'Secret',
  metadata: { name: 's', annotations: { 'kubectl.kubernetes.io/last-applied-configuration': value } },
  data: { password: Buffer.from(value).toString('base64') },
})

test('shows a length and a fingerprint for each value, and never the value', () => {
  const shown = hideValues(key, secret('hunter22'), vault)
  expect(shown['data']).toEqual({ password: expect.stringMatching(/^<8 bytes, [0-9a-f]{12}>$/) })
  expect(JSON.stringify(shown)).not.toMatch(/hunter22|aHVudGVyMjI/)
})

test('tells equal values from different ones, sealed or not', () => {
  const sealed = hideValues(key, vault.seal(key, secret('hunter22')), vault)
  expect(sealed['data']).toEqual(hideValues(key, secret('hunter22'), vault)['data'])
  expect(sealed['data']).not.toEqual(hideValues(key, secret('hunter23'), vault)['data'])
})

test.each([
  ['without a key ring', undefined],
  ['with another key ring', other],
])('%s, says how much is sealed and no more', (_title, ring) => {
  const shown = hideValues(key, vault.seal(key, secret('hunter22')), ring)
  expect(shown['data']).toMatch(/^<sealed, \d+ characters>$/)
  expect(shown).not.toHaveProperty('sealed')
})

test('leaves other kinds as they are', () => {
  const config = { kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: 'b' } }
  expect(hideValues({ ...key, resource: 'configmaps' }, config, vault)).toBe(config)
})
