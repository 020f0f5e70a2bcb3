import { expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { parseTenantConfig } from '#libs/sync-config'
import { decideFor } from '../../registry.ts'
import { TENANT, memoryRelated } from '../../testing/index.ts'
import { applyPatch } from '../../testing/apply-patch.ts'
import type { TenantContext } from '../../view.ts'
import { namespaces } from './namespaces.ts'

const contextOf = (extraLabels: Record<string, string>): TenantContext => {
  const { config, problems } = parseTenantConfig({ sync: { toHost: { namespaces: { enabled: true, extraLabels } } } })
  if (config === undefined) throw new Error(JSON.stringify(problems))
  return { ...TENANT, config }
}
const key = { resource: 'namespaces', namespace: '', name: 'shop' }
const shop = (labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'shop', uid: 'v', labels },
})

/** Decides until nothing is left to be written. */
function settle(sides: { virtual: KubeObject; host: KubeObject; base: JsonObject }, tenant: TenantContext) {
  let { virtual, host, base } = sides
  for (let round = 0; round < 5; round++) {
    const view = { virtual: { object: virtual, seq: 1 }, host: { object: host, seq: 2 }, base }
    const [decision] = decideFor({ tenant, key, ...view, related: memoryRelated(), waitedMs: 0 })
    if (decision?.kind !== 'write' || decision.write.op !== 'patch' || Array.isArray(decision.write.body)) break
    const { body } = decision.write
    if (decision.target.side === 'host') host = applyPatch(host as JsonObject, body, false) as KubeObject
    else virtual = applyPatch(virtual as JsonObject, body, false) as KubeObject
    base = decision.base ?? base
  }
  return { virtual, host, base }
}

function made(virtual: KubeObject, tenant: TenantContext) {
  const copy = namespaces.toHost({ virtual, tenant, related: memoryRelated() })
  if (copy.kind !== 'object') throw new Error(copy.message)
  return { virtual, host: { ...copy.object, metadata: { ...copy.object.metadata, uid: 'h' } }, base: copy.base ?? {} }
}

test('a label that the configuration adds no more is taken off the copy, and never the tenant’s', () => {
  const before = settle(
    made(shop(), contextOf({ 'example.com/a': '1', 'example.com/b': '2' })),
    contextOf({ 'example.com/a': '1', 'example.com/b': '2' }),
  )
  expect(before.host.metadata.labels).toMatchObject({ 'example.com/a': '1', 'example.com/b': '2' })
  const after = settle(before, contextOf({ 'example.com/b': '2' }))
  expect(after.host.metadata.labels).not.toHaveProperty(['example.com/a'])
  expect(after.host.metadata.labels).toMatchObject({ 'example.com/b': '2' })
  expect(after.virtual.metadata.labels).toEqual({})
  const none = settle(after, contextOf({}))
  expect(none.host.metadata.labels).not.toHaveProperty(['example.com/b'])
  expect(none.virtual.metadata.labels).toEqual({})
})

test('one that the tenant has as well is the tenant’s from then on', () => {
  const before = made(shop({ 'example.com/a': 'mine' }), contextOf({ 'example.com/a': '1' }))
  expect(before.host.metadata.labels).toMatchObject({ 'example.com/a': '1' })
  const after = settle(before, contextOf({}))
  expect(after.host.metadata.labels).toMatchObject({ 'example.com/a': 'mine' })
  expect(after.virtual.metadata.labels).toEqual({ 'example.com/a': 'mine' })
})
