import { expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import type { Recording } from '../../harness/cluster.ts'
import { configMapOf, isRunning, podOf, secretOf, specOf } from '../../harness/objects.ts'
import type { World } from '../../harness/world.ts'

/** Versions of one cluster are counted together, so that they tell what was made first. */
async function versionAtCreation({ events }: Recording, name: string): Promise<bigint> {
  const find = (): KubeObject | undefined =>
    events.find(({ type, object }) => type === 'ADDED' && object.metadata.name === name)?.object
  await expect.poll(find, { timeout: 10_000 }).toBeDefined()
  return BigInt(find()?.metadata.resourceVersion ?? -1)
}

export function referenceTests(current: () => World): void {
  test('are on the host before the pod that uses them, and the pod refers to them there', async () => {
    const { host, tenants } = current()
    const tenant = tenants[0]
    const namespace = await tenant.namespace()
    const recordings = await Promise.all([
      host.record('configmaps', tenant.hostNamespace),
      host.record('secrets', tenant.hostNamespace),
      host.record('pods', tenant.hostNamespace),
    ])
    const [configMaps, secrets, pods] = recordings
    // The pod comes first in the tenant: its copy has to wait for what it needs.
    await tenant.cluster.create(podOf(namespace, 'app', { configMap: 'settings', secret: 'login' }))
    await tenant.cluster.create(secretOf(namespace, 'login', { password: 'hunter2' }))
    await tenant.cluster.create(configMapOf(namespace, 'settings', { color: 'blue' }))
    await tenant.cluster.until('pods', { namespace, name: 'app' }, isRunning)
    const copyName = (name: string): string => tenant.copyOf({ namespace, name }).name
    const pod = await host.get('pods', tenant.copyOf({ namespace, name: 'app' }))
    const volumes = specOf(pod).volumes ?? []
    expect(volumes.flatMap(({ configMap }) => configMap?.name ?? [])).toEqual([copyName('settings')])
    expect(volumes.flatMap(({ secret }) => secret?.secretName ?? [])).toEqual([copyName('login')])
    const secret = await host.get('secrets', tenant.copyOf({ namespace, name: 'login' }))
    expect(secret['data']).toEqual({ password: Buffer.from('hunter2').toString('base64') })
    const configMap = await host.get('configmaps', tenant.copyOf({ namespace, name: 'settings' }))
    expect(configMap['data']).toEqual({ color: 'blue' })

    const podMadeAt = await versionAtCreation(pods, copyName('app'))
    expect(await versionAtCreation(configMaps, copyName('settings'))).toBeLessThan(podMadeAt)
    expect(await versionAtCreation(secrets, copyName('login'))).toBeLessThan(podMadeAt)
    await Promise.all(recordings.map((recording) => recording.stop()))
  })

  test('and so are claims, whichever is made first; what never comes keeps the pod from starting, not from the host', async () => {
    const { host, tenants } = current()
    const tenant = tenants[0]
    const namespace = await tenant.namespace()
    const recordings = await Promise.all([
      host.record('persistentvolumeclaims', tenant.hostNamespace),
      host.record('pods', tenant.hostNamespace),
    ])
    const pod = podOf(namespace, 'app', { configMap: 'late' })
    const claim = { name: 'data', persistentVolumeClaim: { claimName: 'data' } }
    const volumes = [...(specOf(pod).volumes ?? []), claim]
    await tenant.cluster.create({ ...pod, spec: { ...specOf(pod), volumes } })
    await tenant.cluster.create({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace, name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    })
    const copyName = (name: string): string => tenant.copyOf({ namespace, name }).name
    const podMadeAt = await versionAtCreation(recordings[1], copyName('app'))
    expect(await versionAtCreation(recordings[0], copyName('data'))).toBeLessThan(podMadeAt)
    expect(isRunning(await tenant.cluster.get('pods', { namespace, name: 'app' }))).toBe(false)
    await tenant.cluster.create(configMapOf(namespace, 'late', { color: 'blue' }))
    await tenant.cluster.until('pods', { namespace, name: 'app' }, isRunning)
    await Promise.all(recordings.map((recording) => recording.stop()))
  })

  test('cross while a pod uses them, and no longer', async () => {
    const { host, tenants } = current()
    const tenant = tenants[0]
    const namespace = await tenant.namespace()
    const shared = { namespace, name: 'shared' }
    await tenant.cluster.create(configMapOf(namespace, 'shared', { key: 'value' }))
    await tenant.cluster.create(configMapOf(namespace, 'other', { key: 'value' }))
    const run = async (name: string, configMap: string): Promise<void> => {
      await tenant.cluster.create(podOf(namespace, name, { configMap }))
      await tenant.cluster.until('pods', { namespace, name }, isRunning)
    }
    await run('first', 'other')
    // All of that is decided: what nobody uses has not crossed.
    expect(await tenant.findCopy('configmaps', shared)).toBeUndefined()
    await run('second', 'shared')
    await run('third', 'shared')
    expect(await tenant.findCopy('configmaps', shared)).toBeDefined()
    await tenant.cluster.delete('pods', { namespace, name: 'second' })
    await tenant.cluster.untilGone('pods', { namespace, name: 'second' })
    expect(await tenant.findCopy('configmaps', shared)).toBeDefined()
    await tenant.cluster.delete('pods', { namespace, name: 'third' })
    await host.untilGone('configmaps', tenant.copyOf(shared))
    expect(await tenant.findCopy('configmaps', { namespace, name: 'other' })).toBeDefined()
    expect(await tenant.cluster.find('configmaps', shared)).toBeDefined()
  })

  test('changes made in the tenant reach the host', async () => {
    const { host, tenants } = current()
    const tenant = tenants[0]
    const namespace = await tenant.namespace()
    await tenant.cluster.create(configMapOf(namespace, 'settings', { color: 'blue' }))
    await tenant.cluster.create(podOf(namespace, 'app', { configMap: 'settings' }))
    await tenant.cluster.until('pods', { namespace, name: 'app' }, isRunning)
    await tenant.cluster.patch('configmaps', { namespace, name: 'settings' }, { data: { color: 'red' } })
    const hasColor = (object: KubeObject): boolean =>
      (object['data'] as { color?: string } | undefined)?.color === 'red'
    const copy = await host.until('configmaps', tenant.copyOf({ namespace, name: 'settings' }), hasColor)
    expect(copy['data']).toEqual({ color: 'red' })
  })
}
