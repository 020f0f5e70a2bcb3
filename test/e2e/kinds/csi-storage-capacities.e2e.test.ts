import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { configure } from '../../harness/configure.ts'
import { unique } from '../../harness/objects.ts'
import { type World, openWorld } from '../../harness/world.ts'

const CAPACITIES = 'csistoragecapacities.storage.k8s.io'
const STORAGE = 'storageclasses.storage.k8s.io'

let world: World
beforeAll(async () => {
  world = await openWorld({ separate: false })
  const selector = { matchLabels: { shown: 'yes' } }
  const fromHost = { storageClasses: { enabled: true, selector }, csiStorageCapacities: { enabled: true } }
  await configure(world.up, world.tenants[0].name, { sync: { fromHost } })
})
afterAll(() => world?.close())

const capacityOf = (name: string, storageClassName: string): KubeObject => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIStorageCapacity',
  metadata: { name, namespace: 'default' },
  storageClassName,
  capacity: '10Gi',
})

test('capacities of classes that the tenant is shown appear, follow and go', async () => {
  const { host, tenants } = world
  const [tenant, other] = tenants
  const [shown, hidden] = [unique('shown'), unique('hidden')]
  const classOf = (name: string, labels: Record<string, string>): KubeObject => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name, labels },
    provisioner: 'example.com/disk',
  })
  await host.create(classOf(shown, { shown: 'yes' }))
  await host.create(classOf(hidden, {}))
  await tenant.cluster.until(STORAGE, { name: shown }, () => true)
  await host.create(capacityOf(hidden, hidden))
  await host.create(capacityOf(shown, shown))
  const ref = { namespace: 'kube-system', name: `default.${shown}` }
  await tenant.cluster.until(CAPACITIES, ref, ({ capacity }) => capacity === '10Gi')
  expect(await tenant.cluster.find(CAPACITIES, { ...ref, name: `default.${hidden}` })).toBeUndefined()
  expect(await other.cluster.find(CAPACITIES, ref)).toBeUndefined()
  await host.patch(CAPACITIES, { namespace: 'default', name: shown }, { capacity: '5Gi' })
  await tenant.cluster.until(CAPACITIES, ref, ({ capacity }) => capacity === '5Gi')
  await host.delete(CAPACITIES, { namespace: 'default', name: shown })
  await tenant.cluster.untilGone(CAPACITIES, ref)
})
