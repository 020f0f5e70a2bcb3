import { expect, test } from 'vitest'
import { configMapOf, isRunning, podOf } from '../../harness/objects.ts'
import type { World } from '../../harness/world.ts'

export function foreignObjectTests(current: () => World): void {
  test('keep their name on the host untouched, and the tenant is told why its pod waits', async () => {
    const { host, tenants } = current()
    const tenant = tenants[0]
    const namespace = await tenant.namespace()
    const ref = { namespace, name: 'web' }
    const copy = tenant.copyOf(ref)
    const theirs = await host.create(podOf(copy.namespace, copy.name, { labels: { owner: 'somebody-else' } }))
    await host.until('pods', copy, isRunning)
    const before = await host.get('pods', copy)
    await tenant.cluster.create(podOf(namespace, 'web'))
    const [event] = await tenant.cluster.untilAll('events', namespace, (events) =>
      events.some((found) => found['reason'] === 'SyncConflict'),
    )
    expect(event).toMatchObject({
      type: 'Warning',
      involvedObject: { kind: 'Pod', name: 'web' },
      message: expect.stringContaining('ForeignObject'),
    })
    for (const detail of [copy.name, copy.namespace, 'somebody-else', theirs.metadata.uid ?? '']) {
      expect(String(event?.['message'])).not.toContain(detail)
    }
    expect(await host.get('pods', copy)).toEqual(before)
    // Nor is it taken for the tenant's when that goes.
    await tenant.cluster.delete('pods', ref, { gracePeriodSeconds: 0 })
    await tenant.cluster.untilGone('pods', ref)
    await tenant.cluster.create(podOf(namespace, 'other'))
    await tenant.cluster.until('pods', { namespace, name: 'other' }, isRunning)
    expect(await host.get('pods', copy)).toEqual(before)
    await host.delete('pods', copy)
  })

  test('hold a ConfigMap back without harm to the other pods', async () => {
    const { host, tenants } = current()
    const tenant = tenants[0]
    const namespace = await tenant.namespace()
    const copy = tenant.copyOf({ namespace, name: 'settings' })
    const theirs = await host.create(configMapOf(copy.namespace, copy.name, { secret: 'of the host' }))
    await tenant.cluster.create(configMapOf(namespace, 'settings', { color: 'blue' }))
    await tenant.cluster.create(podOf(namespace, 'uses', { configMap: 'settings' }))
    await tenant.cluster.create(podOf(namespace, 'plain'))
    await tenant.cluster.until('pods', { namespace, name: 'plain' }, isRunning)
    const events = await tenant.cluster.untilAll('events', namespace, (found) =>
      found.some((item) => item['reason'] === 'SyncConflict'),
    )
    expect(JSON.stringify(events)).not.toContain('of the host')
    expect(await host.get('configmaps', copy)).toEqual(theirs)
    await host.delete('configmaps', copy)
  })
}
