import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type JsonObject,
  type KubeObject,
  type ResourceInfo,
  apiVersionOf,
  knownResource,
  resourceToken,
} from '#libs/kube-model'
import type { Cluster, KindName, Ref } from '../../harness/cluster.ts'
import { type Clusters, startClusters } from '../../harness/clusters.ts'
import { configure } from '../../harness/configure.ts'
import { DEFINITIONS, define, testResources } from '../../harness/definitions.ts'
import { type Installation, startUp } from '../../harness/installation.ts'
import { unique } from '../../harness/objects.ts'
import { type SidesView, type Tenant, openView, upOptionsFor } from '../../harness/world.ts'

/* Each kind has objects on both sides, all of which change while nothing runs: afterwards both sides agree again. */

const WIDGETS = testResources.widgets
const INGRESS_CLASSES = 'ingressclasses.networking.k8s.io'
/** What the host puts on a copy, and the tenant is to see. */
const SEEN: JsonObject = { metadata: { labels: { 'hosts.example.com/seen': 'yes' } } }

/** Such an object crosses though nothing uses it. */
const unused: JsonObject = { metadata: { annotations: { 'causeway.dev/sync': 'true' } } }

type Row = {
  kind: KindName
  first: JsonObject
  /** A change of the tenant's. */
  update: JsonObject
  /** The object of the same name after the first. */
  second: JsonObject
  /** What the copies have of the first, the changed and the second object. @default the fields themselves */
  onHost?: { first?: JsonObject; changed?: JsonObject; second?: JsonObject }
  /** What the host makes of the changed one, where the kind has that. */
  status?: JsonObject
  /** Whether the tenant's object goes with its copy, since another copy would hold other data. @default false */
  goesWithCopy?: boolean
}

const ROWS: Row[] = [
  {
    kind: 'configmaps',
    first: { ...unused, data: { key: 'first' } },
    update: { data: { key: 'changed' } },
    second: { ...unused, data: { key: 'second' } },
    onHost: { first: { data: { key: 'first' } }, second: { data: { key: 'second' } } },
  },
  {
    kind: 'secrets',
    first: { ...unused, data: { key: 'Zmlyc3Q=' } },
    update: { data: { key: 'Y2hhbmdlZA==' } },
    second: { ...unused, data: { key: 'c2Vjb25k' } },
    onHost: { first: { data: { key: 'Zmlyc3Q=' } }, second: { data: { key: 'c2Vjb25k' } } },
  },
  {
    kind: 'services',
    first: { spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] } },
    update: { spec: { ports: [{ port: 81 }] } },
    second: { spec: { selector: { app: 'db' }, ports: [{ port: 5432 }] } },
    status: { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } },
  },
  {
    kind: 'endpointslices.discovery.k8s.io',
    first: slice('IPv4', '192.0.2.1'),
    update: { endpoints: [{ addresses: ['192.0.2.2'] }] },
    second: slice('IPv6', '2001:db8::1'),
    onHost: { first: addresses('IPv4', '192.0.2.1'), second: addresses('IPv6', '2001:db8::1') },
  },
  {
    kind: 'persistentvolumeclaims',
    first: claim('1Gi'),
    update: { metadata: { annotations: { use: 'archive' } } },
    second: claim('2Gi'),
    status: { phase: 'Pending', conditions: [{ type: 'Resizing', status: 'True' }] },
    goesWithCopy: true,
  },
  {
    kind: 'ingresses.networking.k8s.io',
    first: { spec: { rules: [{ host: 'first.example.com' }] } },
    update: { spec: { rules: [{ host: 'changed.example.com' }] } },
    second: { spec: { rules: [{ host: 'second.example.com' }] } },
    status: { loadBalancer: { ingress: [{ ip: '203.0.113.8' }] } },
  },
  {
    kind: 'networkpolicies.networking.k8s.io',
    first: { spec: { podSelector: {} } },
    update: { spec: { podSelector: { matchLabels: { app: 'web' } } } },
    second: { spec: { podSelector: { matchLabels: { app: 'db' } } } },
  },
  {
    kind: 'poddisruptionbudgets.policy',
    first: { spec: { selector: { matchLabels: { app: 'web' } }, minAvailable: 1 } },
    update: { spec: { minAvailable: 2 } },
    second: { spec: { selector: { matchLabels: { app: 'db' } }, minAvailable: 3 } },
  },
  {
    kind: 'serviceaccounts',
    first: {},
    update: { metadata: { annotations: { role: 'reader' } } },
    second: { metadata: { annotations: { role: 'writer' } } },
  },
  {
    kind: 'priorityclasses.scheduling.k8s.io',
    first: { value: 1000 },
    update: { description: 'changed' },
    second: { value: 2000 },
  },
  {
    kind: 'storageclasses.storage.k8s.io',
    first: { provisioner: 'example.com/disk' },
    update: { allowVolumeExpansion: true },
    second: { provisioner: 'example.com/other' },
  },
  {
    kind: 'widgets.tests.example.com',
    first: { spec: { size: 1 } },
    update: { spec: { size: 2 } },
    second: { spec: { size: 3 } },
    status: { ready: true },
  },
]

function slice(addressType: string, address: string): JsonObject {
  const metadata = { labels: { 'kubernetes.io/service-name': 'outside' } }
  return { metadata, ...addresses(addressType, address), ports: [{ port: 5432 }] }
}

function addresses(addressType: string, address: string): JsonObject {
  return { addressType, endpoints: [{ addresses: [address] }] }
}

function claim(storage: string): JsonObject {
  return { spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage } } } }
}

/**
 * The objects of one kind: one is changed on both sides, one is deleted, one is replaced by another of its name, one
 * loses its copy.
 */
const ROLES = ['changed', 'gone', 'again', 'lost'] as const
const CLASS_ROLES = ['changed', 'gone', 'again'] as const
const run = unique('life')

let clusters: Clusters
let up: Installation
let view: SidesView
let namespace: string
/** What was there before, by kind and role. */
const before = new Map<string, KubeObject>()

const tenant = (): Tenant => view.tenants[0]
const infoOf = (kind: KindName): ResourceInfo =>
  kind === resourceToken(WIDGETS) ? WIDGETS : (knownResource(kind) ?? WIDGETS)
const refOf = (kind: KindName, role: string): Ref => ({
  ...(infoOf(kind).namespaced ? { namespace } : {}),
  name: `${run}-${role}`,
})

function objectOf(kind: KindName, role: string, fields: JsonObject): KubeObject {
  const info = infoOf(kind)
  const metadata = { ...(fields['metadata'] as JsonObject | undefined), ...refOf(kind, role) }
  return { apiVersion: apiVersionOf(info), kind: info.kind, ...fields, metadata } as KubeObject
}

/** Deletes an object for good, as it goes where controllers have nothing against it. */
async function remove(cluster: Cluster, kind: KindName, ref: Ref): Promise<void> {
  await cluster.patch(kind, ref, { metadata: { finalizers: null } })
  await cluster.delete(kind, ref)
}

/** An event on the host about the copy of the changed Service. */
async function tell(suffix: string): Promise<void> {
  const copy = await view.host.get('services', tenant().copyOf(refOf('services', 'changed')))
  const { name = '', uid = '' } = copy.metadata
  const time = '2026-01-01T00:00:00Z'
  await view.host.create({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace: tenant().hostNamespace, name: `${name}.${suffix}` },
    involvedObject: { apiVersion: 'v1', kind: 'Service', namespace: tenant().hostNamespace, name, uid },
    type: 'Normal',
    reason: 'Told',
    message: suffix,
    source: { component: 'load-balancer' },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  })
}

/** The tenant's Service once it has the host's address: where its own API chose another, it is made anew for that. */
async function settledService(ref: Ref): Promise<KubeObject> {
  const addressOf = ({ spec }: KubeObject): unknown => (spec as JsonObject)['clusterIP']
  const address = addressOf(await view.host.get('services', tenant().copyOf(ref)))
  return tenant().cluster.until('services', ref, (service) => addressOf(service) === address)
}

const ingressClass = (role: string, controller: string): KubeObject =>
  objectOf(INGRESS_CLASSES, role, { spec: { controller } })

beforeAll(async () => {
  clusters = await startClusters()
  up = await startUp({ separate: false, ...upOptionsFor(clusters) })
  view = await openView({ host: clusters.hostKubeconfig, tenants: clusters.tenants })
  const { cluster } = tenant()
  await define(view.host, [WIDGETS])
  const on = { enabled: true }
  const classes = { storageClasses: on, priorityClasses: on }
  const policies = { networkPolicies: on, podDisruptionBudgets: on, serviceAccounts: on, ingresses: on }
  const toHost = { ...classes, ...policies, customResources: { [resourceToken(WIDGETS)]: on } }
  await configure(up, tenant().name, { sync: { toHost, fromHost: { ingressClasses: on } } })
  await cluster.until(DEFINITIONS, { name: resourceToken(WIDGETS) }, ({ status }) =>
    JSON.stringify(status ?? {}).includes('Established'),
  )
  namespace = await tenant().namespace()
  await cluster.create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: 'outside' },
    spec: { ports: [{ port: 5432 }] },
  } as KubeObject)
  for (const role of CLASS_ROLES) await view.host.create(ingressClass(role, 'example.com/first'))
  for (const { kind, first } of ROWS) {
    for (const role of ROLES) before.set(`${kind} ${role}`, await cluster.create(objectOf(kind, role, first)))
  }
  await Promise.all([
    ...CLASS_ROLES.map((role) => cluster.until(INGRESS_CLASSES, refOf(INGRESS_CLASSES, role), () => true)),
    ...ROWS.flatMap(({ kind }) =>
      ROLES.map((role) => view.host.until(kind, tenant().copyOf(refOf(kind, role)), () => true)),
    ),
  ])
  for (const role of ROLES) before.set(`services ${role}`, await settledService(refOf('services', role)))

  await up.stop()
  await tell('while-down')
  for (const row of ROWS) await changeAll(row)
  await view.host.patch(INGRESS_CLASSES, refOf(INGRESS_CLASSES, 'changed'), SEEN)
  for (const role of ['gone', 'again']) await view.host.delete(INGRESS_CLASSES, refOf(INGRESS_CLASSES, role))
  await view.host.create(ingressClass('again', 'example.com/second'))
  up = await up.restart()
})
afterAll(async () => {
  await view?.clean()
  await view?.close()
  await up?.dispose()
  await clusters?.stop()
})

/** Changes all objects of a kind on the sides that have a say. */
async function changeAll({ kind, update, second, status }: Row): Promise<void> {
  const { host } = view
  const { cluster } = tenant()
  const changed = refOf(kind, 'changed')
  await cluster.patch(kind, changed, update)
  await host.patch(kind, tenant().copyOf(changed), SEEN)
  if (status !== undefined) {
    const how = { type: 'merge', subresource: 'status' } as const
    await host.client.patch(infoOf(kind), tenant().copyOf(changed), { status }, how)
  }
  await remove(cluster, kind, refOf(kind, 'gone'))
  await remove(host, kind, tenant().copyOf(refOf(kind, 'lost')))
  await remove(cluster, kind, refOf(kind, 'again'))
  await cluster.create(objectOf(kind, 'again', second))
}

describe.each(ROWS)('of $kind', ({ kind, update, second, onHost, status }) => {
  test('a change of the tenant’s and one of the host’s are merged', async () => {
    const ref = refOf(kind, 'changed')
    await view.host.until(kind, tenant().copyOf(ref), (copy) => includes(copy, onHost?.changed ?? update))
    const shown = status === undefined ? SEEN : { ...SEEN, status }
    const original = await tenant().cluster.until(kind, ref, (object) => includes(object, shown))
    expect(original.metadata.uid).toBe(before.get(`${kind} changed`)?.metadata.uid)
    expect(original).toMatchObject(update)
    expect(await view.host.get(kind, tenant().copyOf(ref))).toMatchObject(SEEN)
  })

  test('one that the tenant deleted is gone on the host', async () => {
    await view.host.untilGone(kind, tenant().copyOf(refOf(kind, 'gone')))
    expect(await tenant().cluster.find(kind, refOf(kind, 'gone'))).toBeUndefined()
  })

  test('one that was made anew has a copy of its own', async () => {
    const ref = refOf(kind, 'again')
    const original = await tenant().cluster.get(kind, ref)
    expect(original.metadata.uid).not.toBe(before.get(`${kind} again`)?.metadata.uid)
    const stamp = { metadata: { annotations: { 'causeway.dev/uid': original.metadata.uid ?? '' } } }
    const copy = await view.host.until(kind, tenant().copyOf(ref), (found) => includes(found, stamp))
    expect(copy).toMatchObject(onHost?.second ?? second)
    expect((await tenant().cluster.get(kind, ref)).metadata.uid).toBe(original.metadata.uid)
  })
})

test.each(ROWS.filter(({ goesWithCopy }) => goesWithCopy !== true))(
  'of $kind: a copy that the host deleted is made again',
  async ({ kind, first, onHost }) => {
    const ref = refOf(kind, 'lost')
    const { uid = '' } = before.get(`${kind} lost`)?.metadata ?? {}
    const stamp = { metadata: { annotations: { 'causeway.dev/uid': uid } } }
    const copy = await view.host.until(kind, tenant().copyOf(ref), (found) => includes(found, stamp))
    expect(copy).toMatchObject(onHost?.first ?? first)
    expect((await tenant().cluster.get(kind, ref)).metadata.uid).toBe(uid)
  },
)

test.each(ROWS.filter(({ goesWithCopy }) => goesWithCopy === true))(
  'of $kind: one whose copy the host deleted is deleted',
  async ({ kind }) => {
    const ref = refOf(kind, 'lost')
    await tenant().cluster.untilGone(kind, { ...ref, uid: before.get(`${kind} lost`)?.metadata.uid })
    expect(await view.host.find(kind, tenant().copyOf(ref))).toBeUndefined()
  },
)

test('the host’s classes are shown as they are now', async () => {
  const { cluster } = tenant()
  await cluster.until(INGRESS_CLASSES, refOf(INGRESS_CLASSES, 'changed'), (shown) => includes(shown, SEEN))
  await cluster.untilGone(INGRESS_CLASSES, refOf(INGRESS_CLASSES, 'gone'))
  const second = { spec: { controller: 'example.com/second' } }
  await cluster.until(INGRESS_CLASSES, refOf(INGRESS_CLASSES, 'again'), (shown) => includes(shown, second))
  const shown = (await cluster.list(INGRESS_CLASSES)).map(({ metadata }) => metadata.name)
  expect(shown.filter((name) => name?.startsWith(run))).toHaveLength(2)
})

test('what the host said of a copy is told', async () => {
  const { name } = refOf('services', 'changed')
  const told = await tenant().cluster.until('events', { namespace, name: `${name}.while-down` }, () => true)
  const { uid } = before.get('services changed')?.metadata ?? {}
  expect(told).toMatchObject({ involvedObject: { kind: 'Service', namespace, name, uid } })
})

/** Whether `actual` has all that `wanted` has. */
function includes(actual: unknown, wanted: object): boolean {
  try {
    expect(actual).toMatchObject(wanted)
    return true
  } catch {
    return false
  }
}
