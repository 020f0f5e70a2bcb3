import { expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { configMapOf, isRunning, podOf, unique } from '../../harness/objects.ts'
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

  test('get stamps of ours for nothing, and a copy that has lost its own gets them back', async () => {
    const { host, tenants } = current()
    const [tenant, other] = tenants
    const namespace = await tenant.namespace()
    const mark = (field: string): string => `causeway.dev/${field}`
    const damages: Record<string, object> = {
      'annotation-edited': { annotations: { [mark('name')]: 'another', [mark('uid')]: 'another' } },
      'annotations-removed': { annotations: null },
      'label-removed': { labels: { [mark('tenant')]: null } },
      'label-of-another': { labels: { [mark('tenant')]: other.name } },
    }
    const made = await Promise.all(
      Object.keys(damages).map(async (name) => {
        const pod = await tenant.cluster.create(podOf(namespace, name))
        const copy = await host.until('pods', tenant.copyOf({ namespace, name }), isRunning)
        await tenant.cluster.until('pods', { namespace, name }, isRunning)
        return { name, pod, copy, stamps: stampsOf(copy) }
      }),
    )
    const [model] = made
    const place = { namespace: tenant.hostNamespace, name: unique('theirs') }
    const { labels, annotations } = model?.copy.metadata ?? {}
    const theirs = await host.create({
      ...configMapOf(place.namespace, place.name, { a: '1' }),
      metadata: { ...place, labels: labels ?? {}, annotations: { ...annotations, [mark('resource')]: 'configmaps' } },
    })

    for (const [name, metadata] of Object.entries(damages)) {
      await host.patch('pods', tenant.copyOf({ namespace, name }), { metadata })
    }
    for (const { name, pod, copy, stamps } of made) {
      const ref = { namespace, name }
      const whole = await host.until('pods', tenant.copyOf(ref), (found) => isSame(stampsOf(found), stamps))
      expect(whole.metadata.uid).toBe(copy.metadata.uid)
      expect((await tenant.cluster.get('pods', ref)).metadata.uid).toBe(pod.metadata.uid)
    }
    // They are what they were: they go with their originals, and nothing else does.
    for (const { name } of made) await tenant.cluster.delete('pods', { namespace, name }, { gracePeriodSeconds: 0 })
    for (const { name } of made) await host.untilGone('pods', tenant.copyOf({ namespace, name }))
    expect(await host.get('configmaps', place)).toEqual(theirs)
    await host.delete('configmaps', place)
  })
}

/** What tells whose an object is. */
function stampsOf({ metadata: { labels = {}, annotations = {} } }: KubeObject): Record<string, string> {
  const isIdentity = ([key]: [string, string]): boolean =>
    key.startsWith('causeway.dev/') && key !== 'causeway.dev/trace'
  return Object.fromEntries([...Object.entries(labels), ...Object.entries(annotations)].filter(isIdentity))
}

function isSame(found: Record<string, string>, wanted: Record<string, string>): boolean {
  return Object.entries(wanted).every(([key, value]) => found[key] === value)
}
