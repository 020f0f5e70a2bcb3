import { expect, test } from 'vitest'
import { isRunning, podOf } from '../../harness/objects.ts'
import type { World } from '../../harness/world.ts'

export function deletionTests(current: () => World): void {
  test('in the tenant ends the host’s pod with the tenant’s grace, and then the tenant’s', async () => {
    const { host, tenants } = current()
    const tenant = tenants[0]
    const namespace = await tenant.namespace()
    const ref = { namespace, name: 'web' }
    const copy = tenant.copyOf(ref)
    await tenant.cluster.create(podOf(namespace, 'web', { graceSeconds: 7 }))
    await tenant.cluster.until('pods', ref, isRunning)
    const recordings = await Promise.all([
      host.record('pods', copy.namespace),
      tenant.cluster.record('pods', namespace),
    ])
    await tenant.cluster.delete('pods', ref)
    await tenant.cluster.untilGone('pods', ref)
    expect(await host.find('pods', copy), 'gone on the host before').toBeUndefined()
    for (const [index, { events }] of recordings.entries()) {
      const name = index === 0 ? copy.name : ref.name
      const firstEnding = (): unknown =>
        events.find(({ object: { metadata } }) => metadata.name === name && metadata.deletionTimestamp !== undefined)
          ?.object.metadata.deletionGracePeriodSeconds
      await expect.poll(firstEnding).toBe(7)
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
