import { afterAll, beforeAll, expect, test } from 'vitest'
import { type KubeObject, RESOURCES } from '#libs/kube-model'
import { configure } from '../../harness/configure.ts'
import { type PodSpec, isRunning, podOf, specOf, unique } from '../../harness/objects.ts'
import type { Tenant } from '../../harness/world.ts'
import type { Restartable } from '../config.e2e.test.ts'

const POOL = 'example.com/pool'
const TAINT = { key: POOL, operator: 'Equal', value: 'team', effect: 'NoSchedule' }

type PlacedSpec = PodSpec & { nodeSelector?: Record<string, string>; tolerations?: object[] }

function onNode(pod: KubeObject, nodeName: string): KubeObject {
  return { ...pod, spec: { ...specOf(pod), nodeName } }
}

async function toldAbout(tenant: Tenant, namespace: string, name: string): Promise<string[]> {
  const events = await tenant.cluster.list('events', namespace)
  return events
    .filter(({ involvedObject }) => (involvedObject as { name?: string }).name === name)
    .map(({ reason, message }) => `${String(reason)}: ${String(message)}`)
}

export function nodeModelTests(current: () => Restartable): void {
  let own: string
  let other: string
  const dedicated = { nodes: { model: 'dedicated', selector: { [POOL]: 'team' }, tolerations: [TAINT] } }
  beforeAll(async () => {
    const { host } = current()
    const names = (await host.list('nodes')).map(({ metadata }) => metadata.name ?? '').toSorted()
    own = names[0] ?? ''
    other = names[1] ?? ''
    await host.patch(
      'nodes',
      { name: own },
      {
        metadata: { labels: { [POOL]: 'team' } },
        spec: { taints: [{ key: POOL, value: 'team', effect: 'NoSchedule' }] },
      },
    )
  })
  afterAll(async () => {
    const { host, tenants, up } = current()
    await configure(up, tenants[1].name, {})
    await host.patch('nodes', { name: own }, { metadata: { labels: { [POOL]: null } }, spec: { taints: null } })
  })

  test('a shared tenant that becomes dedicated runs on its own nodes alone, and sees no others', async () => {
    const { host, tenants, up } = current()
    const tenant = tenants[1]
    const namespace = await tenant.namespace()
    const at = (name: string): { namespace: string; name: string } => ({ namespace, name })
    await tenant.cluster.create(podOf(namespace, 'shared'))
    const shared = await tenant.cluster.until('pods', at('shared'), isRunning)
    expect(specOf(shared).nodeName).not.toBe(own)
    await configure(up, tenant.name, dedicated)

    await Promise.all(['one', 'two'].map((name) => tenant.cluster.create(podOf(namespace, name))))
    for (const name of ['one', 'two']) {
      const pod = await tenant.cluster.until('pods', at(name), isRunning)
      expect(specOf(pod).nodeName).toBe(own)
      const copy = specOf(await host.get('pods', tenant.copyOf(at(name)))) as PlacedSpec
      expect(copy.nodeSelector).toEqual({ [POOL]: 'team' })
      expect(copy.tolerations).toContainEqual(TAINT)
    }
    // What ran before goes on where it is; with it goes the last that the tenant sees of another node.
    expect(await tenant.cluster.until('pods', at('shared'), isRunning)).toMatchObject({
      metadata: { uid: shared.metadata.uid },
    })
    await tenant.cluster.delete('pods', at('shared'))
    await tenant.cluster.untilAll('nodes', '', (nodes) => nodes.map(({ metadata }) => metadata.name).join() === own)

    await tenant.cluster.create(onNode(podOf(namespace, 'outside'), other))
    await expect
      .poll(() => toldAbout(tenant, namespace, 'outside'), { timeout: 10_000 })
      .toEqual([expect.stringMatching(`SyncFailed: PolicyRejected.*node "${other}" is not one of this cluster's`)])
    await tenant.cluster.create(onNode(podOf(namespace, 'inside'), own))
    await tenant.cluster.until('pods', at('inside'), isRunning)
    expect(await tenant.findCopy('pods', at('outside'))).toBeUndefined()
    // The host gives the tenant another node.
    await host.patch('nodes', { name: other }, { metadata: { labels: { [POOL]: 'team' } } })
    await tenant.cluster.until('pods', at('outside'), isRunning)
    await host.patch('nodes', { name: other }, { metadata: { labels: { [POOL]: null } } })
  })

  test('a private tenant keeps its workload to itself and its own nodes, and still sees what it asks of the host', async () => {
    const { host, tenants, up } = current()
    const tenant = tenants[1]
    const namespace = await tenant.namespace()
    const at = (name: string): { namespace: string; name: string } => ({ namespace, name })
    await configure(up, tenant.name, {})
    await tenant.cluster.create(podOf(namespace, 'moved'))
    const service = { metadata: at('web'), spec: { ports: [{ port: 80 }] } }
    await tenant.cluster.create({ apiVersion: 'v1', kind: 'Service', ...service })
    const moved = await tenant.cluster.until('pods', at('moved'), isRunning)
    await host.until('services', tenant.copyOf(at('web')), () => true)
    const gvisor = unique('gvisor')
    await host.create({
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: { name: gvisor },
      handler: 'runsc',
    } as KubeObject)

    await configure(up, tenant.name, {
      nodes: { model: 'private' },
      sync: { fromHost: { runtimeClasses: { enabled: true } } },
    })
    await host.untilGone('pods', tenant.copyOf(at('moved')), { timeoutMs: 10_000 })
    await host.untilGone('services', tenant.copyOf(at('web')), { timeoutMs: 10_000 })
    await tenant.cluster.until('runtimeclasses.node.k8s.io', { name: gvisor }, () => true)
    // The nodes of the host are none of its own any more.
    await tenant.cluster.untilAll('nodes', '', (nodes) => nodes.length === 0)
    expect((await tenant.cluster.get('pods', at('moved'))).metadata.uid).toBe(moved.metadata.uid)

    const node = unique('own')
    await tenant.cluster.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: node } })
    await tenant.cluster.create(onNode(podOf(namespace, 'own', { graceSeconds: 30 }), node))
    const started = { status: { phase: 'Running', startTime: '2026-01-01T00:00:00Z' } }
    await tenant.cluster.client.patch(RESOURCES.pods, at('own'), started, { type: 'strategic', subresource: 'status' })
    await tenant.cluster.create(podOf(namespace, 'unplaced'))
    await tenant.cluster.delete('pods', at('own'))
    // Decided behind all of that, and shown.
    const later = unique('later')
    await host.create({
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: { name: later },
      handler: 'runsc',
    } as KubeObject)
    await tenant.cluster.until('runtimeclasses.node.k8s.io', { name: later }, () => true)
    const copies = await host.list('pods', tenant.hostNamespace)
    expect(copies.filter(({ metadata }) => metadata.labels?.['causeway.dev/namespace'] === namespace)).toEqual([])
    // Its own kubelet ends its pods.
    const ending = await tenant.cluster.get('pods', at('own'))
    expect(ending.metadata).toMatchObject({ deletionGracePeriodSeconds: 30 })
    expect(await tenant.cluster.find('nodes', { name: node })).toBeDefined()

    await configure(up, tenant.name, {})
    await tenant.cluster.until('pods', at('unplaced'), isRunning)
    expect((await tenant.cluster.get('pods', at('own'))).metadata).toMatchObject({ deletionGracePeriodSeconds: 30 })
    await host.until('services', tenant.copyOf(at('web')), () => true)
    await tenant.cluster.delete('pods', at('own'), { gracePeriodSeconds: 0 })
    await tenant.cluster.delete('nodes', { name: node })
  })
}
