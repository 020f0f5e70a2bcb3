import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type JsonObject, type KnownResource, type KubeObject, RESOURCES } from '#libs/kube-model'
import type { KindName } from '../../harness/cluster.ts'
import { secretOf, unique } from '../../harness/objects.ts'
import { type Tenant, type World, openWorld } from '../../harness/world.ts'

/* One life of each kind around the network, on one installation: made, changed on both sides, deleted, made again. */

let world: World
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-config-'))
  world = await openWorld({ separate: false })
})
afterAll(async () => {
  await world?.close()
  rmSync(folder, { recursive: true, force: true })
})

const tenant = (): Tenant => world.tenants[0]

/** Gives the tenant another configuration while it is served. */
async function configure(config: object): Promise<void> {
  const file = join(folder, `${unique('config')}.json`)
  writeFileSync(file, JSON.stringify(config))
  const { code, stderr } = await world.up.command('tenant', 'configure', tenant().name, '--config', file)
  if (code !== 0) throw new Error(`the configuration is refused: ${stderr}`)
}

type Life = {
  kind: KindName
  apiVersion: string
  objectKind: string
  /** Fields of the tenant's object, and what of them the copy must have. */
  fields: JsonObject
  onHost: JsonObject
  /** A change of the tenant's, and what becomes of it on the host. */
  change: JsonObject
  changedOnHost: JsonObject
  /** A change on the host, for kinds that show one, as a patch of the status. */
  status?: JsonObject
}

const own = (namespace: string) => ({ 'causeway.dev/tenant': tenant().name, 'causeway.dev/namespace': namespace })
const copyNamed = (namespace: string, name: string): string => tenant().copyOf({ namespace, name }).name

const LIVES: { title: string; life: (namespace: string) => Life }[] = [
  {
    title: 'an Ingress',
    life: (namespace) => ({
      kind: 'ingresses.networking.k8s.io',
      apiVersion: 'networking.k8s.io/v1',
      objectKind: 'Ingress',
      fields: {
        spec: {
          tls: [{ secretName: 'certificate' }],
          defaultBackend: { service: { name: 'web', port: { number: 80 } } },
        },
      },
      onHost: {
        spec: {
          tls: [{ secretName: copyNamed(namespace, 'certificate') }],
          defaultBackend: { service: { name: copyNamed(namespace, 'web') } },
        },
      },
      change: { spec: { defaultBackend: { service: { name: 'other' } } } },
      changedOnHost: { spec: { defaultBackend: { service: { name: copyNamed(namespace, 'other') } } } },
      status: { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } },
    }),
  },
  {
    title: 'a NetworkPolicy',
    life: (namespace) => ({
      kind: 'networkpolicies.networking.k8s.io',
      apiVersion: 'networking.k8s.io/v1',
      objectKind: 'NetworkPolicy',
      fields: { spec: { podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: { app: 'web' } } }] }] } },
      onHost: {
        spec: {
          podSelector: { matchLabels: own(namespace) },
          ingress: [{ from: [{ podSelector: { matchLabels: { app: 'web', ...own(namespace) } } }] }],
        },
      },
      change: { spec: { podSelector: { matchLabels: { app: 'db' } } } },
      changedOnHost: { spec: { podSelector: { matchLabels: { app: 'db', ...own(namespace) } } } },
    }),
  },
  {
    title: 'a PodDisruptionBudget',
    life: (namespace) => ({
      kind: 'poddisruptionbudgets.policy',
      apiVersion: 'policy/v1',
      objectKind: 'PodDisruptionBudget',
      fields: { spec: { selector: { matchLabels: { app: 'db' } }, minAvailable: 1 } },
      onHost: { spec: { selector: { matchLabels: { app: 'db', ...own(namespace) } }, minAvailable: 1 } },
      change: { spec: { minAvailable: 2 } },
      changedOnHost: { spec: { minAvailable: 2 } },
    }),
  },
  {
    title: 'a ServiceAccount',
    life: (namespace) => ({
      kind: 'serviceaccounts',
      apiVersion: 'v1',
      objectKind: 'ServiceAccount',
      fields: { imagePullSecrets: [{ name: 'certificate' }] },
      onHost: {
        imagePullSecrets: [{ name: copyNamed(namespace, 'certificate') }],
        automountServiceAccountToken: false,
      },
      change: { metadata: { annotations: { role: 'reader' } } },
      changedOnHost: { metadata: { annotations: { role: 'reader' } } },
    }),
  },
]

describe('kinds that are switched on', () => {
  beforeAll(async () => {
    const on = { enabled: true }
    await configure({
      sync: {
        toHost: { ingresses: on, networkPolicies: on, podDisruptionBudgets: on, serviceAccounts: on },
        fromHost: { runtimeClasses: { enabled: true, selector: { matchLabels: { tenants: 'all' } } } },
      },
    })
  })

  test.each(LIVES)('$title lives on both sides', async ({ life: lifeOf }) => {
    const { host } = world
    const { cluster } = tenant()
    const namespace = await tenant().namespace()
    const life = lifeOf(namespace)
    const ref = { namespace, name: 'thing' }
    const object: KubeObject = {
      apiVersion: life.apiVersion,
      kind: life.objectKind,
      ...life.fields,
      metadata: ref,
    }
    await cluster.create(object)
    await host.until(life.kind, tenant().copyOf(ref), (copy) => includes(copy, life.onHost))
    await cluster.patch(life.kind, ref, life.change)
    await host.until(life.kind, tenant().copyOf(ref), (copy) => includes(copy, life.changedOnHost))
    await host.patch(life.kind, tenant().copyOf(ref), { metadata: { labels: { 'hosts.example.com/seen': 'yes' } } })
    await cluster.until(life.kind, ref, ({ metadata }) => metadata.labels?.['hosts.example.com/seen'] === 'yes')
    if (life.status !== undefined) {
      const { status } = life
      const how = { type: 'merge', subresource: 'status' } as const
      await host.client.patch(RESOURCES[life.kind as KnownResource], tenant().copyOf(ref), { status }, how)
      await cluster.until(life.kind, ref, (seen) => includes(seen, { status }))
    }
    const first = (await host.get(life.kind, tenant().copyOf(ref))).metadata.uid
    await cluster.delete(life.kind, ref)
    await host.untilGone(life.kind, { ...tenant().copyOf(ref), uid: first })
    await cluster.create(object)
    const again = await host.until(life.kind, tenant().copyOf(ref), ({ metadata }) => metadata.uid !== first)
    expect(again).toMatchObject(life.onHost)
  })

  test('an Ingress has its Secret on the host before itself, and lets it go', async () => {
    const { host } = world
    const { cluster } = tenant()
    const namespace = await tenant().namespace()
    const ref = { namespace, name: 'secured' }
    const secret = { namespace, name: 'late' }
    await cluster.create({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: ref,
      spec: { tls: [{ secretName: 'late' }], defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
    } as KubeObject)
    await cluster.create(secretOf(namespace, 'late', { 'tls.key': 'x' }))
    const copy = await host.until('ingresses.networking.k8s.io', tenant().copyOf(ref), () => true)
    const secretCopy = await tenant().findCopy('secrets', secret)
    expect(BigInt(secretCopy?.metadata.resourceVersion ?? -1)).toBeLessThan(BigInt(copy.metadata.resourceVersion ?? 0))
    await cluster.patch('ingresses.networking.k8s.io', ref, { spec: { tls: null } })
    await host.untilGone('secrets', tenant().copyOf(secret))
  })

  test('a class of the host is shown by the selector, follows the host, and goes with it', async () => {
    const { host } = world
    const { cluster } = tenant()
    const kind = 'runtimeclasses.node.k8s.io'
    const name = unique('gvisor')
    const classOf = (labels: Record<string, string>): KubeObject =>
      ({
        apiVersion: 'node.k8s.io/v1',
        kind: 'RuntimeClass',
        metadata: { name, labels },
        handler: 'runsc',
      }) as KubeObject
    await host.create(classOf({ tenants: 'all' }))
    const shown = await cluster.until(kind, { name }, () => true)
    expect(shown).toMatchObject({ handler: 'runsc', metadata: { labels: { 'causeway.dev/mirror': 'true' } } })
    expect(await world.tenants[1].cluster.find(kind, { name })).toBeUndefined()
    await cluster.patch(kind, { name }, { metadata: { labels: { mine: 'x' } } })
    await cluster.until(kind, { name }, ({ metadata }) => metadata.labels?.['mine'] === undefined)
    await host.patch(kind, { name }, { metadata: { annotations: { note: 'y' } } })
    await cluster.until(kind, { name }, ({ metadata }) => metadata.annotations?.['note'] === 'y')
    await host.patch(kind, { name }, { metadata: { labels: { tenants: null } } })
    await cluster.untilGone(kind, { name })
    await host.patch(kind, { name }, { metadata: { labels: { tenants: 'all' } } })
    await cluster.until(kind, { name }, () => true)
    await host.delete(kind, { name })
    await cluster.untilGone(kind, { name })
  })

  test('copies go where the kind is switched off, the tenant’s objects stay, and they come back with it', async () => {
    const { host } = world
    const { cluster } = tenant()
    const namespace = await tenant().namespace()
    const ref = { namespace, name: 'kept' }
    const kind = 'networkpolicies.networking.k8s.io'
    await cluster.create({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: ref,
      spec: { podSelector: {} },
    } as KubeObject)
    await host.until(kind, tenant().copyOf(ref), () => true)
    await configure({})
    await host.untilGone(kind, tenant().copyOf(ref))
    expect(await cluster.find(kind, ref)).toBeDefined()
    await configure({ sync: { toHost: { networkPolicies: { enabled: true } } } })
    await host.until(kind, tenant().copyOf(ref), () => true)
  })
})

describe('Endpoints', () => {
  test('of a Service without selector cross, and give way where it gets one', async () => {
    const { host } = world
    const { cluster } = tenant()
    const namespace = await tenant().namespace()
    const ref = { namespace, name: 'database' }
    const slice = { namespace, name: 'database-own' }
    const slices = 'endpointslices.discovery.k8s.io'
    await cluster.create({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...slice, labels: { 'kubernetes.io/service-name': 'database' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.10'] }],
      ports: [{ port: 5432 }],
    } as KubeObject)
    const addresses = (ip: string): JsonObject => ({ subsets: [{ addresses: [{ ip }], ports: [{ port: 5432 }] }] })
    await cluster.create({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: ref,
      ...addresses('192.0.2.10'),
    } as KubeObject)
    await cluster.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: ref,
      spec: { ports: [{ port: 5432 }] },
    } as KubeObject)
    await host.until('endpoints', tenant().copyOf(ref), (copy) => includes(copy, addresses('192.0.2.10')))
    const label = { 'kubernetes.io/service-name': tenant().copyOf(ref).name }
    await host.until(slices, tenant().copyOf(slice), (copy) => includes(copy, { metadata: { labels: label } }))
    await cluster.patch('endpoints', ref, addresses('192.0.2.11'))
    await host.until('endpoints', tenant().copyOf(ref), (copy) => includes(copy, addresses('192.0.2.11')))
    await cluster.patch('services', ref, { spec: { selector: { app: 'nothing' } } })
    await host.untilGone(slices, tenant().copyOf(slice))
    await host.until('services', tenant().copyOf(ref), (copy) =>
      includes(copy, { spec: { selector: { app: 'nothing' } } }),
    )
    // What the host's controller makes of the selector goes with it again.
    const madeThere = (all: KubeObject[]): KubeObject[] =>
      all.filter(({ metadata: { labels = {}, annotations = {} } }) => {
        const isOfService = labels['kubernetes.io/service-name'] === copyNamed(namespace, 'database')
        return isOfService && annotations['causeway.dev/resource'] === undefined
      })
    await host.untilAll(slices, tenant().hostNamespace, (all) => madeThere(all).length > 0)
    await cluster.patch('services', ref, { spec: { selector: null } })
    await host.untilAll(slices, tenant().hostNamespace, (all) => madeThere(all).length === 0)
    await host.until(slices, tenant().copyOf(slice), () => true)
    await cluster.delete('services', ref)
    await host.untilGone('endpoints', tenant().copyOf(ref))
    expect(await cluster.find(slices, slice)).toBeDefined()
  })
})

/** Whether `actual` has all that `wanted` has. */
function includes(actual: unknown, wanted: unknown): boolean {
  try {
    expect(actual).toMatchObject(wanted as object)
    return true
  } catch {
    return false
  }
}
