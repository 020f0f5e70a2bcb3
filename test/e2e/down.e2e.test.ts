import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import type { Ref } from '../harness/cluster.ts'
import { type Clusters, givenClusters, startClusters } from '../harness/clusters.ts'
import { type Installation, startUp } from '../harness/installation.ts'
import { configMapOf, isRunning, podOf } from '../harness/objects.ts'
import { MODES, type SidesView, openView, upOptionsFor } from '../harness/world.ts'

let clusters: Clusters
let sides: SidesView
beforeAll(async () => {
  clusters = await startClusters()
  sides = await openView({ host: clusters.hostKubeconfig, tenants: clusters.tenants })
})
afterAll(async () => {
  await sides?.close()
  await clusters?.stop()
})

describe.each(MODES)('$mode', ({ separate }) => {
  let up: Installation
  beforeAll(async () => {
    up = await startUp({ separate, ...upOptionsFor(clusters) })
  })
  afterAll(async () => {
    if (up !== undefined && givenClusters() !== undefined) await sides.clean()
    await up?.dispose()
  })

  test('what happens on both sides while everything is down is carried out after the start', async () => {
    const { host } = sides
    const [tenant] = sides.tenants
    const { cluster } = tenant
    const namespace = await tenant.namespace()
    const at = (name: string): Ref => ({ namespace, name })
    const copyOf = (ref: Ref): Ref => tenant.copyOf(ref)
    const names = ['deleted', 'deleted-on-host', 'forced', 'recreated', 'labelled', 'labelled-on-host', 'kept']
    await cluster.create(configMapOf(namespace, 'settings', { color: 'blue' }))
    const before = await Promise.all(
      names.map((name) => cluster.create(podOf(namespace, name, { configMap: 'settings' }))),
    )
    await cluster.untilAll('pods', namespace, (pods) => pods.length === names.length && pods.every(isRunning))

    expect(await up.stop()).toMatchObject({ code: 0 })
    await cluster.delete('pods', at('deleted'))
    await host.delete('pods', copyOf(at('deleted-on-host')))
    await host.untilGone('pods', copyOf(at('deleted-on-host')))
    await cluster.delete('pods', at('forced'), { gracePeriodSeconds: 0 })
    await cluster.delete('pods', at('recreated'), { gracePeriodSeconds: 0 })
    await cluster.untilGone('pods', at('recreated'))
    const recreated = await cluster.create(podOf(namespace, 'recreated'))
    await cluster.create(podOf(namespace, 'created', { configMap: 'settings' }))
    await cluster.patch('pods', at('labelled'), { metadata: { labels: { made: 'in-the-tenant' } } })
    await host.patch('pods', copyOf(at('labelled-on-host')), { metadata: { labels: { made: 'on-the-host' } } })
    await cluster.patch('configmaps', at('settings'), { data: { color: 'red' } })
    up = await up.restart()

    const kept = ['created', 'kept', 'labelled', 'labelled-on-host', 'recreated']
    const pods = await cluster.untilAll('pods', namespace, (found) => {
      const isSettled = found.length === kept.length && found.every(isRunning)
      return isSettled && labelOf(found, 'labelled-on-host') === 'on-the-host'
    })
    expect(pods.map(({ metadata }) => metadata.name ?? '').toSorted()).toEqual(kept)
    for (const { metadata } of before) {
      const now = pods.find((pod) => pod.metadata.name === metadata.name)
      const same = now === undefined || metadata.name === 'recreated' || now.metadata.uid === metadata.uid
      expect(same, `${metadata.name} is the same pod`).toBe(true)
    }
    for (const gone of ['deleted', 'deleted-on-host', 'forced']) await host.untilGone('pods', copyOf(at(gone)))
    await host.until('pods', copyOf(at('labelled')), (pod) => pod.metadata.labels?.['made'] === 'in-the-tenant')
    const isRed = (object: KubeObject): boolean => (object['data'] as { color?: string }).color === 'red'
    await host.until('configmaps', copyOf(at('settings')), isRed)
    const copy = await host.get('pods', copyOf(at('recreated')))
    expect(copy.metadata.annotations?.['causeway.dev/uid']).toBe(recreated.metadata.uid)
  })

  test('a second start finds nothing to do', async () => {
    const [tenant] = sides.tenants
    const namespace = await tenant.namespace()
    await tenant.cluster.create(podOf(namespace, 'web'))
    await tenant.cluster.until('pods', { namespace, name: 'web' }, isRunning)
    await up.stop()
    const versions = (): Promise<unknown[]> =>
      Promise.all([
        tenant.cluster.list('pods').then((pods) => pods.map(({ metadata }) => metadata.resourceVersion)),
        sides.host
          .list('pods', tenant.hostNamespace)
          .then((pods) => pods.map(({ metadata }) => metadata.resourceVersion)),
      ])
    const before = await versions()
    up = await up.restart()
    // What is made now passes behind all that the start had to do.
    await tenant.cluster.create(configMapOf(namespace, 'late', { key: 'value' }))
    await tenant.cluster.create(podOf(namespace, 'late', { configMap: 'late' }))
    await tenant.cluster.until('pods', { namespace, name: 'late' }, isRunning)
    await tenant.cluster.delete('pods', { namespace, name: 'late' })
    await tenant.cluster.untilGone('pods', { namespace, name: 'late' })
    await sides.host.untilGone('pods', tenant.copyOf({ namespace, name: 'late' }))
    expect(await versions()).toEqual(before)
  })
})

function labelOf(pods: KubeObject[], name: string): string | undefined {
  return pods.find(({ metadata }) => metadata.name === name)?.metadata.labels?.['made']
}
