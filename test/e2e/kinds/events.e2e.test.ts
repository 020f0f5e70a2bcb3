import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { type Tenant, type World, openWorld } from '../../harness/world.ts'
import { configure } from '../../harness/configure.ts'
import { podOf } from '../../harness/objects.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ separate: false })
})
afterAll(() => world?.close())

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
