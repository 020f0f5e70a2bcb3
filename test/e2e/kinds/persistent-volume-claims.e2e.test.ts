import { afterAll, beforeAll, expect, test } from 'vitest'
import { type KubeObject, RESOURCES } from '#libs/kube-model'
import { type World, openWorld } from '../../harness/world.ts'
import { unique } from '../../harness/objects.ts'

type ClaimSpec = { volumeName?: string; resources: { requests: { storage: string } } }
type ClaimStatus = { phase?: string; capacity?: { storage: string } }

let world: World
beforeAll(async () => {
  world = await openWorld({ separate: false })
})
afterAll(() => world?.close())

const specOf = (claim: KubeObject): ClaimSpec => claim['spec'] as ClaimSpec
const statusOf = (claim: KubeObject): ClaimStatus => (claim['status'] ?? {}) as ClaimStatus

function claimOf(namespace: string, name: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name, labels: { app: 'db' } },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } },
  }
}

/** What a provisioner and the binder of the host do. */
async function bind(ref: { namespace: string; name: string }, volume: string): Promise<void> {
  const { host } = world
  const patch = {
    metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
    spec: { volumeName: volume },
  }
  await host.patch('persistentvolumeclaims', ref, patch)
  const status = { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } }

  await host.client.patch(RESOURCES.persistentvolumeclaims, ref, { status }, { type: 'merge', subresource: 'status' })
}

test('a claim is bound on the host, shows its volume, and goes with it', async () => {
  const { host, tenants } = world
  const tenant = tenants[0]
  const namespace = await tenant.namespace()
  const ref = { namespace, name: 'data' }
  const volume = unique('pvc')
  await tenant.cluster.create(claimOf(namespace, 'data'))
  const copy = tenant.copyOf(ref)
  await host.until('persistentvolumeclaims', copy, ({ metadata }) => metadata.labels?.['app'] === 'db')
  await bind(copy, volume)
  const bound = await tenant.cluster.until('persistentvolumeclaims', ref, (claim) => statusOf(claim).phase === 'Bound')
  expect(specOf(bound).volumeName).toBe(volume)
  expect(statusOf(bound).capacity).toEqual({ storage: '1Gi' })
  const standIn = await tenant.cluster.until(
    'persistentvolumes',
    { name: volume },
    (found) => (found['status'] as ClaimStatus).phase === 'Bound',
  )
  expect((standIn['spec'] as { claimRef: object }).claimRef).toMatchObject({ ...ref, uid: bound.metadata.uid })

  await tenant.cluster.delete('persistentvolumeclaims', ref)
  await host.untilGone('persistentvolumeclaims', copy)
  await tenant.cluster.untilGone('persistentvolumeclaims', ref)
  await tenant.cluster.untilGone('persistentvolumes', { name: volume })
})

test('a claim made anew gets a volume of its own, and one that the host deletes is deleted', async () => {
  const { host, tenants } = world
  const tenant = tenants[0]
  const namespace = await tenant.namespace()
  const ref = { namespace, name: 'again' }
  const copy = tenant.copyOf(ref)
  await tenant.cluster.create(claimOf(namespace, 'again'))
  const first = await host.until('persistentvolumeclaims', copy, () => true)
  await tenant.cluster.delete('persistentvolumeclaims', ref)
  await tenant.cluster.untilGone('persistentvolumeclaims', ref)
  await tenant.cluster.create(claimOf(namespace, 'again'))
  const second = await host.until('persistentvolumeclaims', copy, ({ metadata }) => metadata.uid !== first.metadata.uid)
  expect(second['spec']).not.toHaveProperty('volumeName')

  await host.delete('persistentvolumeclaims', copy)
  await tenant.cluster.untilGone('persistentvolumeclaims', ref)
  await host.untilGone('persistentvolumeclaims', copy)
})
