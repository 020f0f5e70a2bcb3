import { describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { parseTenantConfig } from '#libs/sync-config'
import { decideFor, mirrorFor } from '../registry.ts'
import { TENANT, deepFreeze, memoryRelated } from '../testing/index.ts'
import type { Presence, TenantContext, View } from '../view.ts'
import { servedVersions } from './definition.ts'

const GADGETS = 'gadgets.example.com'
const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'

const tenantWith = (customResources: JsonObject): TenantContext => {
  const { config, problems } = parseTenantConfig({ sync: { fromHost: { customResources } } })
  if (config === undefined) throw new Error(JSON.stringify(problems))
  return { ...TENANT, config }
}
const byName = { 'shared/*': 'from-host/*', 'shared/lamp': 'default/light', '/own': 'default/own' }
const mapped = tenantWith({ [GADGETS]: { enabled: true, scope: 'Namespaced', mappings: { byName } } })

const definition = (versions: JsonObject[], more: JsonObject = {}): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: GADGETS, uid: 'definition-uid' },
  spec: { group: 'example.com', scope: 'Namespaced', names: { kind: 'Gadget', plural: 'gadgets' }, versions, ...more },
  status: { conditions: [{ type: 'Established', status: 'True' }] },
})
const v1 = { name: 'v1', served: true, storage: true, subresources: { status: {} } }

const gadget = (metadata: KubeObject['metadata'], fields: JsonObject = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Gadget',
  metadata,
  ...fields,
})

function decide(options: {
  key?: { namespace: string; name: string }
  tenant?: TenantContext
  virtual?: KubeObject
  host?: Presence
  definition?: KubeObject | undefined
}) {
  const { key = { namespace: 'from-host', name: 'fan' }, tenant = mapped, virtual } = options
  const known = 'definition' in options ? options.definition : definition([v1])
  const ref = { resource: DEFINITIONS, namespace: '', name: GADGETS }
  const view: View = {
    tenant,
    key: { resource: GADGETS, ...key },
    virtual: virtual === undefined ? { seq: 0 } : { object: virtual, seq: 5 },
    host: { seq: 0 },
    original: { ...(options.host ?? { seq: 0 }), synced: true },
    related: memoryRelated({
      virtual: [
        ...(known === undefined ? [] : [{ ref, object: known }]),
        ...['from-host', 'default'].map((name) => ({
          ref: { resource: 'namespaces', namespace: '', name },
          object: { metadata: { name } } as KubeObject,
        })),
      ],
    }),
    waitedMs: 0,
  }
  return decideFor(deepFreeze(view))
}

const original = { object: gadget({ name: 'fan', namespace: 'shared', uid: 'h' }, { spec: { speed: 1 } }), seq: 9 }
const copy = gadget(
  { name: 'fan', namespace: 'from-host', uid: 'v', labels: { 'causeway.dev/mirror': 'true' } },
  { spec: { speed: 1 } },
)

describe('an object of the host', () => {
  test('is made in the tenant under its mapped name, with the mark', () => {
    expect(decide({ host: original })).toMatchObject([
      {
        target: { side: 'virtual', resource: GADGETS, namespace: 'from-host', name: 'fan' },
        write: { op: 'create', body: { ...copy, metadata: { labels: { 'causeway.dev/mirror': 'true' } } } },
      },
    ])
  })

  test('waits for the tenant’s definition', () => {
    expect(decide({ host: original, definition: undefined })).toMatchObject([{ kind: 'reject', reason: 'CrdMissing' }])
    const other = definition([{ ...v1, name: 'v2' }])
    expect(decide({ host: original, definition: other })).toMatchObject([{ kind: 'reject', reason: 'CrdMissing' }])
  })

  test('goes by its tombstone, and by nothing else', () => {
    expect(decide({ virtual: copy })).toEqual([])
    const gone = { gone: { uid: 'h', seq: 12 }, seq: 12 }
    expect(decide({ virtual: copy, host: gone })).toMatchObject([
      { write: { op: 'delete', uid: 'v', proof: { kind: 'tombstone', seq: 12 } } },
    ])
  })

  test('changes what the tenant changed back, and brings its status', () => {
    const host = { object: { ...original.object, status: { on: true } }, seq: 9 }
    const virtual = { ...copy, spec: { speed: 7 } }
    expect(decide({ virtual, host })).toMatchObject([
      { write: { op: 'patch', body: { spec: { speed: 1 } } } },
      { write: { op: 'patch', subresource: 'status', body: { status: { on: true } } } },
    ])
  })

  test('is not shown where it is a tenant’s copy, nor where nothing is mapped', () => {
    const labels = { 'causeway.dev/tenant': 'team-b' }
    const annotations = {
      'causeway.dev/name': 'fan',
      'causeway.dev/namespace': 'default',
      'causeway.dev/resource': GADGETS,
      'causeway.dev/host-name': 'shared/fan-x-default-x-team-b',
    }
    const of = gadget({ name: 'fan-x-default-x-team-b', namespace: 'shared', labels, annotations })
    expect(decide({ host: { object: of, seq: 3 } })).toEqual([])
    expect(decide({ key: { namespace: 'elsewhere', name: 'fan' }, virtual: copy })).toMatchObject([
      { rule: 'unselected' },
    ])
  })

  test('leaves an object of the tenant’s own alone', () => {
    const own = gadget({ name: 'fan', namespace: 'from-host', uid: 'own' })
    expect(decide({ virtual: own, host: original })).toEqual([])
  })
})

test('keys and originals map onto one another, single names before whole namespaces', () => {
  const mirror = mirrorFor(GADGETS)
  const ref = (namespace: string, name: string) => ({ resource: GADGETS, namespace, name })
  expect(mirror?.copiesOf?.(ref('shared', 'fan'), mapped)).toEqual([ref('from-host', 'fan')])
  expect(mirror?.copiesOf?.(ref('shared', 'lamp'), mapped)).toEqual([ref('default', 'light')])
  expect(mirror?.copiesOf?.(ref(TENANT.hostNamespace, 'own'), mapped)).toEqual([ref('default', 'own')])
  expect(mirror?.copiesOf?.(ref('', 'fan'), mapped)).toEqual([])
  expect(mirror?.originalOf?.(ref('default', 'light'), mapped)).toEqual(ref('shared', 'lamp'))
  expect(mirror?.originalOf?.(ref('from-host', 'lamp'), mapped)).toBeUndefined()
})

describe('a definition of the host', () => {
  const decideDefinition = (host: KubeObject, virtual?: KubeObject) =>
    decideFor({
      tenant: mapped,
      key: { resource: DEFINITIONS, namespace: '', name: host.metadata.name ?? '' },
      virtual: virtual === undefined ? { seq: 0 } : { object: virtual, seq: 5 },
      host: { object: host, seq: 9 },
      related: memoryRelated(),
      waitedMs: 0,
    })

  test('comes without conversion; of versions that need one, only the preferred', () => {
    const versions = [
      { ...v1, name: 'v1beta1', storage: true },
      { ...v1, storage: false },
    ]
    const host = definition(versions, { conversion: { strategy: 'Webhook', webhook: {} } })
    expect(decideDefinition(host)).toMatchObject([
      {
        write: {
          op: 'create',
          body: { spec: { conversion: { strategy: 'None' }, versions: [{ name: 'v1', storage: true }] } },
        },
      },
    ])
    expect(decideDefinition(definition(versions))).toMatchObject([{ write: { body: { spec: { versions } } } }])
  })

  test('that nobody named stays on the host', () => {
    const host = definition([v1])
    expect(decideDefinition({ ...host, metadata: { name: 'others.example.com' } })).toEqual([])
  })

  test('is never taken away, and one of the tenant’s own is left alone and told when it differs', () => {
    const host = definition([v1])
    const labels = { 'causeway.dev/mirror': 'true' }
    const tombstone: View = {
      tenant: mapped,
      key: { resource: DEFINITIONS, namespace: '', name: GADGETS },
      virtual: { object: { ...host, metadata: { ...host.metadata, labels } }, seq: 5 },
      host: { gone: { uid: 'definition-uid', seq: 7 }, seq: 7 },
      related: memoryRelated(),
      waitedMs: 0,
    }
    expect(decideFor(tombstone)).toEqual([])
    expect(decideDefinition(host, definition([{ ...v1, subresources: {} }]))).toEqual([])
    expect(decideDefinition(host, definition([{ ...v1, name: 'v9' }]))).toMatchObject([{ reason: 'DefinitionDiffers' }])
  })
})

test('versions are in the order in which APIs prefer them', () => {
  const names = ['v1', 'foo10', 'v10', 'v2beta1', 'v11alpha2', 'v3', 'foo1', 'v12beta3', 'v11beta2']
  const sorted = servedVersions(definition(names.map((name) => ({ name, served: true }))))
  expect(sorted.map(({ name }) => name)).toEqual([
    'v10',
    'v3',
    'v1',
    'v12beta3',
    'v11beta2',
    'v2beta1',
    'v11alpha2',
    'foo1',
    'foo10',
  ])
})
