import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ObjectKey } from '#libs/kube-model'
import { createVault, loadKeyRing, loadOrCreateKeyRing } from './index.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-vault-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const key: ObjectKey = { tenant: 'team-a', side: 'virtual', resource: 'secrets', namespace: 'default', name: 'db' }
const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 'db',
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"p":"aHVudGVyMg=="}}', team: 'a' },
  },
  data: { p: 'aHVudGVyMg==' },
  type: 'Opaque',
}

test('a sealed Secret shows no value and opens to what it was, without the copy that kubectl keeps', () => {
  const vault = createVault(loadOrCreateKeyRing(join(folder, 'keys.json')))
  const sealed = vault.seal(key, secret)
  expect(JSON.stringify(sealed)).not.toContain('aHVudGVyMg')
  expect(vault.unseal(key, sealed)).toEqual({ ...secret, metadata: { name: 'db', annotations: { team: 'a' } } })
})

test('other resources are left alone', () => {
  const vault = createVault(loadOrCreateKeyRing(join(folder, 'keys.json')))
  expect(vault.seal({ ...key, resource: 'configmaps' }, secret)).toBe(secret)
})

test('sealed data moved to another object does not open', () => {
  const vault = createVault(loadOrCreateKeyRing(join(folder, 'keys.json')))
  const sealed = vault.seal(key, secret)
  expect(() => vault.unseal({ ...key, tenant: 'team-b' }, sealed)).toThrow(/team-b.*cannot be opened/)
})

test('a key ring is made once, for its owner alone, and opens what it sealed after a restart', () => {
  const path = join(folder, 'keys.json')
  const sealed = createVault(loadOrCreateKeyRing(path)).seal(key, secret)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(createVault(loadOrCreateKeyRing(path)).unseal(key, sealed).data).toEqual(secret.data)
})

test('a broken key ring is an error that names every field', () => {
  const path = join(folder, 'keys.json')
  writeFileSync(path, '{"active":"k2","keys":{"k1":"c2hvcnQ=","BAD":"x"}}')
  expect(() => loadKeyRing(path)).toThrow(/keys\.k1: must be 32 bytes[\s\S]*"BAD"[\s\S]*active: must name/)
  writeFileSync(path, '{')
  expect(() => loadOrCreateKeyRing(path)).toThrow(/key ring .*keys\.json/)
})
