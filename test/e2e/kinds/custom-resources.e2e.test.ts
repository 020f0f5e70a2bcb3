import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { givenClusters } from '../../harness/clusters.ts'
import { configure } from '../../harness/configure.ts'
import { unique } from '../../harness/objects.ts'
import { type Tenant, type World, openWorld } from '../../harness/world.ts'

/* Custom resources by what a tenant's configuration names, in both directions, on one installation. */

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'
const WIDGETS = 'widgets.tests.example.com'
const GADGETS = 'gadgets.tests.example.com'
const TIERS = 'tiers.tests.example.com'

let world: World
const shared = unique('shared')
const target = unique('from-host')

beforeAll(async () => {
  world = await openWorld({ separate: false })
  await world.host.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: shared } })
  await world.host.create(definitionOf('gadgets', 'Gadget'))
  await world.host.create(definitionOf('tiers', 'Tier', 'Cluster'))
  const gadgets = { enabled: true, scope: 'Namespaced', mappings: { byName: { [`${shared}/*`]: `${target}/*` } } }
  await configure(world.up, tenant().name, {
    sync: {
      toHost: { customResources: { [WIDGETS]: { enabled: true } } },
      fromHost: {
        customResources: {
          [GADGETS]: gadgets,
          [TIERS]: { enabled: true, scope: 'Cluster', selector: { matchLabels: { tenants: 'all' } } },
        },
      },
    },
  })
})
afterAll(async () => {
  for (const name of [WIDGETS, GADGETS, TIERS]) await world?.host.delete(DEFINITIONS, { name })
  await world?.host.delete('namespaces', { name: shared })
  await world?.close()
})

const tenant = (): Tenant => world.tenants[0]

function definitionOf(plural: string, kind: string, scope = 'Namespaced', more: object = {}): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.tests.example.com` },
    spec: {
      group: 'tests.example.com',
      scope,
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema, ...more }],
    },
  } as KubeObject
}

function objectOf(kind: string, metadata: KubeObject['metadata'], spec: object): KubeObject {
  return { apiVersion: 'tests.example.com/v1', kind, metadata, spec } as KubeObject
}

const hasSpec = (spec: object) => (object: KubeObject) => JSON.stringify(object['spec']) === JSON.stringify(spec)

test('a custom resource waits for its definition on the host, and crosses once that is there', async () => {
  const { host } = world
  const { cluster } = tenant()
  const namespace = await tenant().namespace()
  const ref = { namespace, name: 'engine' }
  // The tenant has a definition of its own before the host has one.
  await cluster.create(definitionOf('widgets', 'Widget', 'Namespaced', { subresources: { status: {} } }))
  await cluster.until(DEFINITIONS, { name: WIDGETS }, isEstablished)
  await cluster.create(objectOf('Widget', { ...ref, labels: { team: 'x' } }, { size: 3 }))
  const told = await cluster.untilAll('events', namespace, (events) => events.some(isAboutTheDefinition))
  expect(told.find(isAboutTheDefinition)).toMatchObject({ involvedObject: { kind: 'Widget', name: 'engine' } })
  expect(await host.find(DEFINITIONS, { name: WIDGETS })).toBeUndefined()

  await host.create(definitionOf('widgets', 'Widget', 'Namespaced', { subresources: { status: {} } }))
  const copy = await host.until(WIDGETS, tenant().copyOf(ref), hasSpec({ size: 3 }), { timeoutMs: 90_000 })
  expect(copy.metadata).toMatchObject({
    labels: { team: 'x', 'causeway.dev/tenant': tenant().name },
    annotations: { 'causeway.dev/resource': WIDGETS, 'causeway.dev/name': 'engine' },
  })

  await cluster.patch(WIDGETS, ref, { spec: { size: 4 } })
  await host.until(WIDGETS, tenant().copyOf(ref), hasSpec({ size: 4 }))
  await host.patch(WIDGETS, tenant().copyOf(ref), { metadata: { annotations: { 'host.example.com/seen': 'yes' } } })
  await cluster.until(WIDGETS, ref, ({ metadata }) => metadata.annotations?.['host.example.com/seen'] === 'yes')
  const status = { type: 'merge', subresource: 'status' } as const
  const widgets = { group: 'tests.example.com', version: '', plural: 'widgets', kind: 'Widget', namespaced: true }
  await host.client.patch(widgets, tenant().copyOf(ref), { status: { ready: true } }, status)
  await cluster.until(WIDGETS, ref, (seen) => JSON.stringify(seen['status']) === '{"ready":true}')

  await host.delete(WIDGETS, tenant().copyOf(ref))
  await host.until(WIDGETS, tenant().copyOf(ref), ({ metadata }) => metadata.uid !== copy.metadata.uid)
  await cluster.delete(WIDGETS, ref)
  await host.untilGone(WIDGETS, tenant().copyOf(ref))
  await cluster.create(objectOf('Widget', ref, { size: 5 }))
  await host.until(WIDGETS, tenant().copyOf(ref), hasSpec({ size: 5 }))
})

test('the host’s definitions come to the tenant, and its objects where they are mapped to, read only', async () => {
  const { host } = world
  const { cluster } = tenant()
  const ref = { namespace: target, name: 'lamp' }
  await cluster.until(DEFINITIONS, { name: GADGETS }, isEstablished)
  await host.create(objectOf('Gadget', { namespace: shared, name: 'lamp' }, { color: 'red' }))
  const shown = await cluster.until(GADGETS, ref, hasSpec({ color: 'red' }), { timeoutMs: 90_000 })
  expect(shown.metadata.labels?.['causeway.dev/mirror']).toBe('true')
  await host.patch(GADGETS, { namespace: shared, name: 'lamp' }, { spec: { color: 'blue' } })
  await cluster.until(GADGETS, ref, hasSpec({ color: 'blue' }))
  await cluster.patch(GADGETS, ref, { spec: { color: 'mine' } })
  await cluster.until(GADGETS, ref, hasSpec({ color: 'blue' }))
  await host.patch(GADGETS, { namespace: shared, name: 'lamp' }, { status: { lit: true } })
  await cluster.until(GADGETS, ref, (seen) => JSON.stringify(seen['status']) === '{"lit":true}')
  await cluster.create(objectOf('Gadget', { namespace: target, name: 'own' }, { color: 'own' }))
  await host.delete(GADGETS, { namespace: shared, name: 'lamp' })
  await cluster.untilGone(GADGETS, ref)
  expect(await cluster.find(GADGETS, { namespace: target, name: 'own' })).toBeDefined()
  expect(await world.tenants[1].cluster.find(DEFINITIONS, { name: GADGETS })).toBeUndefined()
})

test('cluster-scoped objects are shown by the selector', async () => {
  const { host } = world
  const { cluster } = tenant()
  const [gold, silver] = [{ name: unique('gold') }, { name: unique('silver') }]
  await host.create(objectOf('Tier', silver, { price: 1 }))
  await host.create(objectOf('Tier', { ...gold, labels: { tenants: 'all' } }, { price: 2 }))
  await cluster.until(TIERS, gold, hasSpec({ price: 2 }), { timeoutMs: 90_000 })
  expect(await cluster.find(TIERS, silver)).toBeUndefined()
  await host.patch(TIERS, gold, { metadata: { labels: { tenants: null } } })
  await cluster.untilGone(TIERS, gold)
})

test('a definition of the tenant’s own that differs from the host’s is told on it', async () => {
  const { host, tenants, up } = world
  const [, { name, cluster }] = tenants
  const gears = 'gears.tests.example.com'
  const properties = { spec: { type: 'object', properties: { teeth: { type: 'integer' } } } }
  const schema = { openAPIV3Schema: { type: 'object', properties } }
  await cluster.create(definitionOf('gears', 'Gear', 'Namespaced', { schema }))
  const spec = { type: 'object', properties: { size: { type: 'integer' } } }
  const other = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  await host.create(definitionOf('gears', 'Gear', 'Namespaced', { schema: other }))
  try {
    await configure(up, name, { sync: { toHost: { customResources: { [gears]: { enabled: true } } } } })
    const isTold = ({ involvedObject, message }: KubeObject): boolean =>
      (involvedObject as { name?: string }).name === gears && String(message).startsWith('DefinitionDiffers')
    const told = await cluster.untilAll('events', 'default', (events) => events.some(isTold), { timeoutMs: 60_000 })
    expect(told.find(isTold)).toMatchObject({
      type: 'Warning',
      reason: 'SyncConflict',
      message: expect.stringContaining('in version v1 the host’s has no field spec.teeth') as string,
    })
  } finally {
    await host.delete(DEFINITIONS, { name: gears })
    await configure(up, name, {})
  }
})

test('copies go where a kind is named no more; the tenant’s objects and definitions stay', async () => {
  const { host } = world
  const { cluster } = tenant()
  const namespace = await tenant().namespace()
  const ref = { namespace, name: 'kept' }
  await cluster.create(objectOf('Widget', ref, { size: 1 }))
  await host.until(WIDGETS, tenant().copyOf(ref), () => true)
  await configure(world.up, tenant().name, {})
  await host.untilGone(WIDGETS, tenant().copyOf(ref))
  expect(await cluster.find(WIDGETS, ref)).toBeDefined()
  expect(await cluster.find(DEFINITIONS, { name: GADGETS })).toBeDefined()
})

test('copies go on either side, cluster-scoped ones too, where a kind was named until everything went down', async () => {
  const { host } = world
  const [, second] = world.tenants
  const { name, cluster } = second
  const widget = { namespace: await second.namespace(), name: 'left' }
  const tier = { name: unique('left') }
  const shown = { namespace: target, name: 'left' }
  const copyOfTier = { name: second.copyOf(tier).name }
  const mappings = { byName: { [`${shared}/*`]: `${target}/*` } }
  const named = {
    sync: {
      toHost: { customResources: { [WIDGETS]: { enabled: true }, [TIERS]: { enabled: true, scope: 'Cluster' } } },
      fromHost: { customResources: { [GADGETS]: { enabled: true, scope: 'Namespaced', mappings } } },
    },
  }
  await configure(world.up, name, named)
  await cluster.until(DEFINITIONS, { name: WIDGETS }, isEstablished)
  await cluster.until(DEFINITIONS, { name: TIERS }, isEstablished)
  await cluster.create(objectOf('Widget', widget, { size: 1 }))
  await cluster.create(objectOf('Tier', tier, { price: 1 }))
  await host.create(objectOf('Gadget', { namespace: shared, name: 'left' }, { color: 'red' }))
  const arrived = async (): Promise<void> => {
    await host.until(WIDGETS, second.copyOf(widget), () => true, { timeoutMs: 60_000 })
    await host.until(TIERS, copyOfTier, () => true, { timeoutMs: 60_000 })
    await cluster.until(GADGETS, shown, () => true, { timeoutMs: 60_000 })
  }
  const left = async (): Promise<void> => {
    await host.untilGone(WIDGETS, second.copyOf(widget), { timeoutMs: 60_000 })
    await host.untilGone(TIERS, copyOfTier, { timeoutMs: 60_000 })
    await cluster.untilGone(GADGETS, shown, { timeoutMs: 60_000 })
    expect(await cluster.find(WIDGETS, widget)).toBeDefined()
    expect(await cluster.find(TIERS, tier)).toBeDefined()
    expect(await host.find(GADGETS, { namespace: shared, name: 'left' })).toBeDefined()
  }
  await arrived()
  await configure(world.up, name, {})
  await left()

  await configure(world.up, name, named)
  await arrived()
  await world.up.stop()
  const file = join(world.up.data, 'named-no-more.yaml')
  const isGiven = givenClusters() !== undefined
  const tenants = world.tenants.map(({ name, cluster: { kubeconfig } }) => ({
    name,
    config: {},
    ...(isGiven ? { kubeconfig } : {}),
  }))
  writeFileSync(file, JSON.stringify({ tenants }))
  world.up = await world.up.restart({ tenants: [], args: ['--config', file] })
  await left()
})

function isEstablished({ status }: KubeObject): boolean {
  const { conditions } = (status ?? {}) as { conditions?: { type: string; status: string }[] | null }
  // At first there is nothing but null.
  return (conditions ?? []).some((condition) => condition.type === 'Established' && condition.status === 'True')
}

function isAboutTheDefinition(event: KubeObject): boolean {
  return String(event['message']).startsWith('CrdMissing')
}
