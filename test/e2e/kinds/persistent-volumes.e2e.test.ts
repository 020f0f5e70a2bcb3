import { afterAll, beforeAll, expect, test } from 'vitest'
import { type KubeObject, RESOURCES } from '#libs/kube-model'
import { configure } from '../../harness/configure.ts'
import { unique } from '../../harness/objects.ts'
import { type World, openWorld } from '../../harness/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ separate: false })
  await configure(world.up, world.tenants[0].name, { sync: { toHost: { persistentVolumes: { enabled: true } } } })
})
afterAll(() => world?.close())

const phaseOf = (object: KubeObject): unknown => (object['status'] as { phase?: string } | undefined)?.phase
const size = { storage: '1Gi' }
const accessModes = ['ReadWriteMany']

test('a volume of the tenant’s own is bound to its claim, on both sides, and goes', async () => {
  const { host, tenants } = world
  const tenant = tenants[0]
  const namespace = await tenant.namespace()
  const name = unique('nfs')
  const ref = { namespace, name: 'archive' }
  const [volume, claim] = [{ name: `causeway-${name}-x-${tenant.name}` }, tenant.copyOf(ref)]
  await tenant.cluster.create({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: { capacity: size, accessModes, storageClassName: '', nfs: { server: 'nfs.example.com', path: '/' } },
  })
  await tenant.cluster.create({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: ref,
    spec: { accessModes, storageClassName: '', volumeName: name, resources: { requests: size } },
  })
  const hostClaim = await host.until('persistentvolumeclaims', claim, () => true)
  expect(hostClaim['spec']).toMatchObject({ volumeName: volume.name })
  await host.until('persistentvolumes', volume, () => true)

  // What the binder of the host does.
  const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', ...claim, uid: hostClaim.metadata.uid }
  await host.patch('persistentvolumes', volume, { spec: { claimRef } })
  const status = { type: 'merge', subresource: 'status' } as const
  await host.client.patch(RESOURCES.persistentvolumes, volume, { status: { phase: 'Bound' } }, status)
  const bound = { status: { phase: 'Bound', capacity: size, accessModes } }
  await host.client.patch(RESOURCES.persistentvolumeclaims, claim, bound, status)
  const shown = await tenant.cluster.until('persistentvolumeclaims', ref, (found) => phaseOf(found) === 'Bound')
  const own = await tenant.cluster.until(
    'persistentvolumes',
    { name },
    (found) => phaseOf(found) === 'Bound' && (found['spec'] as { claimRef?: { uid?: string } }).claimRef !== undefined,
  )
  expect((own['spec'] as { claimRef: object }).claimRef).toMatchObject({ ...ref, uid: shown.metadata.uid })
  expect(await tenant.cluster.find('persistentvolumes', volume)).toBeUndefined()

  await tenant.cluster.delete('persistentvolumeclaims', ref)
  await host.untilGone('persistentvolumeclaims', claim)
  await tenant.cluster.untilGone('persistentvolumeclaims', ref)
  await tenant.cluster.delete('persistentvolumes', { name })
  // Whether it is in use is the host's to know.
  await host.until('persistentvolumes', volume, ({ metadata }) => metadata.deletionTimestamp !== undefined)
})

test('a directory of a node is no tenant’s to have', async () => {
  const { host, tenants } = world
  const tenant = tenants[0]
  const name = unique('disk')
  await tenant.cluster.create({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: { capacity: size, accessModes, hostPath: { path: '/etc' } },
  })
  const after = unique('after')
  await tenant.cluster.create({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: after },
    spec: { capacity: size, accessModes, nfs: { server: 'nfs.example.com', path: '/' } },
  })
  await host.until('persistentvolumes', { name: `causeway-${after}-x-${tenant.name}` }, () => true)
  expect(await host.find('persistentvolumes', { name: `causeway-${name}-x-${tenant.name}` })).toBeUndefined()
})
