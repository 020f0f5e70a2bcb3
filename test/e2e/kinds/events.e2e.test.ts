import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { type Tenant, type World, openWorld } from '../../harness/world.ts'
import { configure } from '../../harness/configure.ts'
import { podOf, unique } from '../../harness/objects.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ separate: false })
})
afterAll(() => world?.close())

const WIDGETS: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.tests.example.com' },
  spec: {
    group: 'tests.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

function isServed({ status }: KubeObject): boolean {
  return JSON.stringify(status ?? {}).includes('Established')
}

/** What a controller of the host says of an object there. */
function said(of: KubeObject, suffix: string, fields: object = {}): KubeObject {
  const { name = '', namespace = '', uid = '' } = of.metadata
  const time = '2026-01-01T00:00:00Z'
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace, name: `${name}.${suffix}` },
    involvedObject: { apiVersion: of.apiVersion, kind: of.kind, namespace, name, uid },
    type: 'Warning',
    reason: 'FailedMount',
    message: `volume of ${namespace}/${name} cannot be mounted`,
    source: { component: 'kubelet' },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    ...fields,
  }
}

async function runningPod(tenant: Tenant): Promise<{ namespace: string; copy: KubeObject; uid: string | undefined }> {
  const namespace = await tenant.namespace()
  const pod = await tenant.cluster.create(podOf(namespace, 'web'))
  const copy = await world.host.until('pods', tenant.copyOf({ namespace, name: 'web' }), () => true)
  return { namespace, copy, uid: pod.metadata.uid }
}

test('what the host says of a copy is told about the tenant’s object, and counted', async () => {
  const { host, tenants } = world
  const tenant = tenants[0]
  const { namespace, copy, uid } = await runningPod(tenant)
  await host.create(said(copy, 'mount'))
  const ref = { namespace, name: 'web.mount' }
  const event = await tenant.cluster.until('events', ref, () => true)
  expect(event).toMatchObject({
    involvedObject: { kind: 'Pod', namespace, name: 'web', uid },
    message: `volume of ${namespace}/web cannot be mounted`,
    reason: 'FailedMount',
  })
  const again = { count: 5, lastTimestamp: '2026-01-01T00:01:00Z' }
  await host.patch('events', { namespace: tenant.hostNamespace, name: `${copy.metadata.name ?? ''}.mount` }, again)
  await tenant.cluster.until('events', ref, ({ count }) => count === 5)
  await host.delete('events', { namespace: tenant.hostNamespace, name: `${copy.metadata.name ?? ''}.mount` })
  expect(await tenant.cluster.find('events', ref)).toBeDefined()
})

test('neither another tenant nor another object hears of it', async () => {
  const { host, tenants } = world
  const [tenant, other] = tenants
  const { namespace, copy } = await runningPod(tenant)
  await host.create(said({ ...copy, metadata: { ...copy.metadata, uid: 'of-an-earlier-one' } }, 'earlier'))
  await host.create(said(copy, 'ours', { source: { component: 'causeway' } }))
  await host.create(said(copy, 'last'))
  await tenant.cluster.until('events', { namespace, name: 'web.last' }, () => true)
  const names = (await tenant.cluster.list('events', namespace)).map(({ metadata }) => metadata.name)
  expect(names).not.toContain('web.earlier')
  expect(names).not.toContain('web.ours')
  const elsewhere = await other.cluster.list('events')
  expect(elsewhere.filter(({ metadata }) => metadata.name === 'web.last')).toEqual([])
})

test('what it says of custom resources and of copies without namespace is told as well', async () => {
  const { host, tenants, up } = world
  const tenant = tenants[0]
  const { cluster } = tenant
  const namespace = await tenant.namespace()
  await host.create(WIDGETS)
  const customResources = { 'widgets.tests.example.com': { enabled: true } }
  await configure(up, tenant.name, { sync: { toHost: { customResources, priorityClasses: { enabled: true } } } })
  const widget = { namespace, name: 'engine' }
  await cluster.until('customresourcedefinitions.apiextensions.k8s.io', WIDGETS.metadata as { name: string }, isServed)
  const { uid } = (await cluster.create({ apiVersion: 'tests.example.com/v1', kind: 'Widget', metadata: widget }))
    .metadata
  const { apiVersion, kind } = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' }
  const important = { name: unique('important') }
  await cluster.create({ apiVersion, kind, metadata: important, value: 1000 } as KubeObject)

  const copy = await host.until('widgets.tests.example.com', tenant.copyOf(widget), () => true, { timeoutMs: 60_000 })
  await host.create(said({ ...copy, apiVersion: 'tests.example.com/v1', kind: 'Widget' }, 'broken'))
  const told = await cluster.until('events', { namespace, name: 'engine.broken' }, () => true)
  expect(told['involvedObject']).toMatchObject({ apiVersion: 'tests.example.com/v1', kind: 'Widget', uid })

  const classCopy = await host.until(
    'priorityclasses.scheduling.k8s.io',
    { name: tenant.copyOf(important).name },
    () => true,
  )
  const { namespace: _none, ...metadata } = said(classCopy, 'unused').metadata
  await host.create({
    ...said({ ...classCopy, apiVersion, kind }, 'unused'),
    metadata: { ...metadata, namespace: 'default' },
    message: `class ${classCopy.metadata.name ?? ''} is used by nobody`,
  })
  const unusedEvent = await cluster.until(
    'events',
    { namespace: 'default', name: `${important.name}.unused` },
    () => true,
  )
  expect(unusedEvent).toMatchObject({
    involvedObject: { kind, name: important.name },
    message: `class ${important.name} is used by nobody`,
  })
  await configure(up, tenant.name, {})
  await host.delete('customresourcedefinitions.apiextensions.k8s.io', WIDGETS.metadata as { name: string })
})

test('a tenant that switches it off is told nothing until it is on again', async () => {
  const { host, tenants, up } = world
  const tenant = tenants[1]
  const { namespace, copy } = await runningPod(tenant)
  const ref = { namespace, name: 'web' }
  const spec = { selector: { app: 'web' }, ports: [{ port: 80 }] }
  await tenant.cluster.create({ apiVersion: 'v1', kind: 'Service', metadata: ref, spec })
  await host.until('services', tenant.copyOf(ref), () => true)
  const off = { enabled: false }
  await configure(up, tenant.name, { sync: { fromHost: { events: off }, toHost: { services: off } } })
  // That the Service is gone shows that the configuration is in effect.
  await host.untilGone('services', tenant.copyOf(ref))
  await host.create(said(copy, 'unheard'))
  const copyRef = tenant.copyOf(ref)
  await host.patch('pods', copyRef, { metadata: { labels: { after: 'unheard' } } })
  await tenant.cluster.until('pods', ref, ({ metadata }) => metadata.labels?.['after'] === 'unheard')
  expect(await tenant.cluster.find('events', { namespace, name: 'web.unheard' })).toBeUndefined()
  await configure(up, tenant.name, {})
  // What the host still has is told then.
  await tenant.cluster.until('events', { namespace, name: 'web.unheard' }, () => true)
})
