import { expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import type { RecordedEvent, Recording } from '../../harness/cluster.ts'
import { isRunning, podOf } from '../../harness/objects.ts'
import type { World } from '../../harness/world.ts'

function isTerminating({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined
}

/** The event of the object's end, once it has come. */
async function endIn({ events }: Recording, name: string): Promise<RecordedEvent | undefined> {
  const find = (): RecordedEvent | undefined =>
    events.find(({ type, object }) => type === 'DELETED' && object.metadata.name === name)
  await expect.poll(find).toBeDefined()
  return find()
}

export function deletionTests(current: () => World): void {
  test('in the tenant ends the host’s pod with the tenant’s grace, and then the tenant’s', async () => {
    const { host, tenants } = current()
    const tenant = tenants[0]
    const namespace = await tenant.namespace()
    const ref = { namespace, name: 'web' }
    await tenant.cluster.create(podOf(namespace, 'web', { graceSeconds: 7 }))
    await tenant.cluster.until('pods', ref, isRunning)
    const recordings = await Promise.all([
      host.record('pods', tenant.hostNamespace),
      tenant.cluster.record('pods', namespace),
    ])
    const [onHost, inTenant] = recordings
    await tenant.cluster.delete('pods', ref)
    await tenant.cluster.untilGone('pods', ref)
    await host.untilGone('pods', tenant.copyOf(ref))
    const [hostEnd, tenantEnd] = await Promise.all([endIn(onHost, tenant.copyOf(ref).name), endIn(inTenant, 'web')])
    expect(hostEnd?.at).toBeLessThanOrEqual(tenantEnd?.at ?? 0)
    for (const { events } of recordings) {
      const ending = events.find(({ type, object }) => type === 'MODIFIED' && isTerminating(object))
      expect(ending?.object.metadata.deletionGracePeriodSeconds).toBe(7)
    }
    await Promise.all(recordings.map((recording) => recording.stop()))
  })

  test('on the host ends the tenant’s pod', async () => {
    const { host, tenants } = current()
    const tenant = tenants[0]
    const namespace = await tenant.namespace()
    const ref = { namespace, name: 'web' }
    await tenant.cluster.create(podOf(namespace, 'web'))
    await tenant.cluster.until('pods', ref, isRunning)
    await host.delete('pods', tenant.copyOf(ref))
    await tenant.cluster.untilGone('pods', ref)
    expect(await tenant.findCopy('pods', ref)).toBeUndefined()
  })

  test('by force on the host ends the tenant’s pod too', async () => {
    const { host, tenants } = current()
    const tenant = tenants[0]
    const namespace = await tenant.namespace()
    const ref = { namespace, name: 'web' }
    await tenant.cluster.create(podOf(namespace, 'web'))
    await tenant.cluster.until('pods', ref, isRunning)
    await host.delete('pods', tenant.copyOf(ref), { gracePeriodSeconds: 0 })
    await tenant.cluster.untilGone('pods', ref)
    expect(await tenant.findCopy('pods', ref)).toBeUndefined()
  })

  test('makes room for a pod of the same name', async () => {
    const { host, tenants } = current()
    const tenant = tenants[0]
    const namespace = await tenant.namespace()
    const ref = { namespace, name: 'web' }
    const first = await tenant.cluster.create(podOf(namespace, 'web'))
    await tenant.cluster.until('pods', ref, isRunning)
    // By force, so that the host's copy of the first may still end when the second comes.
    await tenant.cluster.delete('pods', ref, { gracePeriodSeconds: 0 })
    const second = await tenant.cluster.create(podOf(namespace, 'web'))
    expect(second.metadata.uid).not.toBe(first.metadata.uid)
    await tenant.cluster.until('pods', ref, (pod) => pod.metadata.uid === second.metadata.uid && isRunning(pod))
    const copy = await host.get('pods', tenant.copyOf(ref))
    expect(copy.metadata.annotations?.['causeway.dev/uid']).toBe(second.metadata.uid)
  })

  test('of a namespace takes its pods on the host along', async () => {
    const { host, tenants } = current()
    const tenant = tenants[0]
    const namespace = await tenant.namespace()
    await tenant.cluster.create(podOf(namespace, 'web'))
    await tenant.cluster.until('pods', { namespace, name: 'web' }, isRunning)
    await tenant.cluster.delete('namespaces', { name: namespace })
    await tenant.cluster.untilGone('namespaces', { name: namespace })
    await host.untilGone('pods', tenant.copyOf({ namespace, name: 'web' }))
    expect(await tenant.cluster.list('pods', namespace)).toEqual([])
  })
}
