import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { configure } from '../../harness/configure.ts'
import { podOf, unique } from '../../harness/objects.ts'
import { type World, openWorld } from '../../harness/world.ts'

const STORAGE = 'storageclasses.storage.k8s.io'
const PRIORITY = 'priorityclasses.scheduling.k8s.io'

let world: World
beforeAll(async () => {
  world = await openWorld({ separate: false })
  const [first, second] = world.tenants
  const on = { enabled: true }
  await configure(world.up, first.name, { sync: { toHost: { storageClasses: on, priorityClasses: on } } })
  const selector = { matchLabels: { shown: 'yes' } }
  const fromHost = { storageClasses: { ...on, selector }, priorityClasses: { ...on, selector } }
  await configure(world.up, second.name, { sync: { fromHost } })
})
afterAll(() => world?.close())

const storageClass = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name, labels },
  provisioner: 'example.com/disk',
  parameters: { type: 'fast' },
})

const priorityClass = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name, labels },
  value: 1000,
})

const claim = (namespace: string, storageClassName: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace, name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: '1Gi' } } },
})

function podWith(namespace: string, priorityClassName: string): KubeObject {
  const pod = podOf(namespace, 'web')
  return { ...pod, spec: { ...(pod['spec'] as object), priorityClassName } }
}

test('classes of the tenant’s own cross, with what names them, and go with their originals', async () => {
  const { host, tenants } = world
  const tenant = tenants[0]
  const namespace = await tenant.namespace()
  const name = unique('own')
  const copy = { name: `causeway-${name}-x-${tenant.name}` }
  await tenant.cluster.create(priorityClass(name, { app: 'x' }))
  await tenant.cluster.create(storageClass(name))
  await tenant.cluster.create(claim(namespace, name))
  await tenant.cluster.create(podWith(namespace, name))
  await host.until(PRIORITY, copy, ({ metadata }) => metadata.labels?.['app'] === 'x')
  await host.until(STORAGE, copy, ({ provisioner }) => provisioner === 'example.com/disk')
  const hostClaim = await host.until('persistentvolumeclaims', tenant.copyOf({ namespace, name: 'data' }), () => true)
  expect(hostClaim['spec']).toMatchObject({ storageClassName: copy.name })
  const hostPod = await host.until('pods', tenant.copyOf({ namespace, name: 'web' }), () => true)
  expect(hostPod['spec']).toMatchObject({ priorityClassName: copy.name })

  await tenant.cluster.patch(PRIORITY, { name }, { description: 'changed' })
  await host.until(PRIORITY, copy, ({ description }) => description === 'changed')
  for (const kind of [PRIORITY, STORAGE] as const) {
    await tenant.cluster.delete(kind, { name })
    await host.untilGone(kind, copy)
  }
})

test('classes of the host are shown by selector, and what names another waits', async () => {
  const { host, tenants } = world
  const tenant = tenants[1]
  const namespace = await tenant.namespace()
  const [shown, hidden] = [unique('shown'), unique('hidden')]
  for (const made of [storageClass, priorityClass]) {
    await host.create(made(shown, { shown: 'yes' }))
    await host.create(made(hidden))
  }
  await tenant.cluster.until(PRIORITY, { name: shown }, ({ value }) => value === 1000)
  await tenant.cluster.until(STORAGE, { name: shown }, ({ provisioner }) => provisioner === 'example.com/disk')
  expect(await tenant.cluster.find(STORAGE, { name: hidden })).toBeUndefined()

  await tenant.cluster.create(claim(namespace, hidden))
  await tenant.cluster.untilAll('events', namespace, (events) =>
    events.some(({ message }) => String(message).includes(`no StorageClass "${hidden}"`)),
  )
  const copy = tenant.copyOf({ namespace, name: 'data' })
  expect(await host.find('persistentvolumeclaims', copy)).toBeUndefined()
  await host.patch(STORAGE, { name: hidden }, { metadata: { labels: { shown: 'yes' } } })
  const hostClaim = await host.until('persistentvolumeclaims', copy, () => true)
  expect(hostClaim['spec']).toMatchObject({ storageClassName: hidden })

  await host.patch(STORAGE, { name: hidden }, { metadata: { labels: { shown: null } } })
  await tenant.cluster.untilGone(STORAGE, { name: hidden })
  for (const kind of [STORAGE, PRIORITY] as const) {
    await host.delete(kind, { name: shown })
    await tenant.cluster.untilGone(kind, { name: shown })
  }
})

test('the classes of one tenant are shown to no other, and a tenant’s own of a name is left alone', async () => {
  const { host, tenants } = world
  const [first, second] = tenants
  const name = unique('secret')
  await first.cluster.create(storageClass(name, { shown: 'yes' }))
  const copy = { name: `causeway-${name}-x-${first.name}` }
  await host.until(STORAGE, copy, () => true)
  const marker = unique('marker')
  await second.cluster.create({ ...storageClass(marker), provisioner: 'own' })
  await host.create(storageClass(marker, { shown: 'yes' }))
  await host.create(storageClass(`${marker}-2`, { shown: 'yes' }))
  await second.cluster.until(STORAGE, { name: `${marker}-2` }, () => true)
  expect(await second.cluster.find(STORAGE, copy)).toBeUndefined()
  expect(await second.cluster.find(STORAGE, { name: marker })).toMatchObject({ provisioner: 'own' })
})

test('a tenant whose classes come from the other side from now on keeps none of the former', async () => {
  const { host, tenants, up } = world
  const tenant = tenants[0]
  const name = unique('turned')
  const copy = { name: `causeway-${name}-x-${tenant.name}` }
  await tenant.cluster.create(priorityClass(name))
  await host.until(PRIORITY, copy, () => true)
  await configure(up, tenant.name, { sync: { fromHost: { priorityClasses: { enabled: true } } } })
  await host.untilGone(PRIORITY, copy)
  expect(await tenant.cluster.find(PRIORITY, { name })).toBeDefined()
  const shown = unique('shown')
  await host.create(priorityClass(shown))
  await tenant.cluster.until(PRIORITY, { name: shown }, () => true)
  await configure(up, tenant.name, {})
  await tenant.cluster.untilGone(PRIORITY, { name: shown })
})
