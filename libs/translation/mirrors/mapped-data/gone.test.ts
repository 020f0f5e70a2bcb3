import { expect, test } from 'vitest'
import { parseTenantConfig } from '#libs/sync-config'
import { decideFor } from '../../registry.ts'
import { TENANT, memoryRelated, objectOf } from '../../testing/index.ts'
import type { View } from '../../view.ts'

const kind = { enabled: true, mappings: { byName: { 'infra/ca': 'default/bundle' } } }
const { config = TENANT.config } = parseTenantConfig({ sync: { fromHost: { configMaps: kind, secrets: kind } } })
const metadata = { uid: 'v1', labels: { 'causeway.dev/mirror': 'true' } }

function view(resource: string, original: NonNullable<View['original']>): View {
  const name = resource === 'secrets' ? 'Secret' : 'ConfigMap'
  return {
    tenant: { ...TENANT, config },
    key: { resource, namespace: 'default', name: 'bundle' },
    virtual: { object: objectOf(name, 'bundle', { metadata }), seq: 5 },
    host: { seq: 0 },
    original,
    related: memoryRelated(),
    waitedMs: 0,
  }
}

test.each(['configmaps', 'secrets'])(
  'a copy of %s goes when its original is not there, seen to go or not',
  (resource) => {
    const target = { side: 'virtual', resource, namespace: 'default', name: 'bundle' }
    expect(decideFor(view(resource, { seq: 4, gone: { uid: 'h', seq: 4 }, synced: false }))).toMatchObject([
      { target, rule: 'mirrorGone', write: { op: 'delete', uid: 'v1', proof: { kind: 'tombstone', seq: 4 } } },
    ])
    const counterpart = { tenant: TENANT.name, side: 'host', resource, namespace: 'infra', name: 'ca' }
    expect(decideFor(view(resource, { seq: 0, synced: true }))).toMatchObject([
      {
        target,
        rule: 'mirrorGone',
        write: { op: 'delete', uid: 'v1', proof: { kind: 'confirm-absent', counterpart } },
      },
    ])
    expect(decideFor(view(resource, { seq: 0, synced: false }))).toEqual([])
  },
)
