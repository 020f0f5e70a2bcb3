import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connectBus } from '#libs/bus'
import type { KubeObject } from '#libs/kube-model'
import { openTenantRegistry } from '#libs/runtime'
import { configure } from '../../harness/configure.ts'
import { configMapOf, isRunning, podOf, unique } from '../../harness/objects.ts'
import { pendingWrites } from '../../harness/projections.ts'
import type { Restartable } from '../config.e2e.test.ts'

const POLICIES = 'networkpolicies.networking.k8s.io'
const CLASSES = 'runtimeclasses.node.k8s.io'
const on = { enabled: true }
const off = { enabled: false }

function policyOf(namespace: string, name: string): KubeObject {
  const spec = { podSelector: {} }
  return { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { namespace, name }, spec }
}

function serviceOf(namespace: string, name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: { namespace, name }, spec: { ports: [{ port: 80 }] } }
}

function runtimeClassOf(name: string): KubeObject {
  return { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name }, handler: 'runsc' } as KubeObject
}

export function configurationTests(current: () => Restartable): void {
  const written = (content: object): string => {
    const file = join(current().up.data, `${unique('config')}.yaml`)
    writeFileSync(file, JSON.stringify(content))
    return file
  }

  test('a kind is switched on, off and on again while everything runs, in either direction', async () => {
    const { host, tenants, up } = current()
    const [tenant] = tenants
    const namespace = await tenant.namespace()
    const ref = { namespace, name: 'closed' }
    const { uid } = (await tenant.cluster.create(policyOf(namespace, 'closed'))).metadata
    const name = unique('gvisor')
    await host.create(runtimeClassOf(name))
    const both = { sync: { toHost: { networkPolicies: on }, fromHost: { runtimeClasses: on } } }
    for (const _round of [1, 2]) {
      expect(await tenant.findCopy(POLICIES, ref)).toBeUndefined()
      await configure(up, tenant.name, both)
      await host.until(POLICIES, tenant.copyOf(ref), () => true)
      await tenant.cluster.until(CLASSES, { name }, () => true)
      await configure(up, tenant.name, {})
      await host.untilGone(POLICIES, tenant.copyOf(ref), { timeoutMs: 5_000 })
      await tenant.cluster.untilGone(CLASSES, { name }, { timeoutMs: 5_000 })
      expect((await tenant.cluster.get(POLICIES, ref)).metadata.uid).toBe(uid)
    }
    expect(await host.find(CLASSES, { name })).toBeDefined()
  })

  test('kinds that cross by default go from the host and come back; pods that use them go on running', async () => {
    const { host, tenants, up } = current()
    const [tenant] = tenants
    const namespace = await tenant.namespace()
    const at = (name: string): { namespace: string; name: string } => ({ namespace, name })
    await tenant.cluster.create(serviceOf(namespace, 'web'))
    await tenant.cluster.create(configMapOf(namespace, 'settings', { color: 'blue' }))
    await tenant.cluster.create(podOf(namespace, 'web', { configMap: 'settings' }))
    const pod = await tenant.cluster.until('pods', at('web'), isRunning)
    await host.until('services', tenant.copyOf(at('web')), () => true)
    await configure(up, tenant.name, { sync: { toHost: { services: off, configMaps: off } } })
    await host.untilGone('services', tenant.copyOf(at('web')), { timeoutMs: 5_000 })
    await host.untilGone('configmaps', tenant.copyOf(at('settings')), { timeoutMs: 5_000 })
    expect(await tenant.cluster.find('services', at('web'))).toBeDefined()
    await tenant.cluster.patch('configmaps', at('settings'), { data: { color: 'red' } })
    await configure(up, tenant.name, {})
    await host.until('services', tenant.copyOf(at('web')), () => true)
    const copy = await host.until('configmaps', tenant.copyOf(at('settings')), () => true)
    expect(copy['data']).toEqual({ color: 'red' })
    expect((await tenant.cluster.until('pods', at('web'), isRunning)).metadata.uid).toBe(pod.metadata.uid)
  })

  test('what is wrong is refused by the command, and by the services, where the last good one holds', async () => {
    const { host, tenants, up } = current()
    const [tenant] = tenants
    const wrong = { sync: { toHost: { networkPolicys: on } } }
    await expect(configure(up, tenant.name, wrong)).rejects.toThrow(
      'sync.toHost.networkPolicys: is no known key; did you mean sync.toHost.networkPolicies?',
    )
    await configure(up, tenant.name, { sync: { toHost: { networkPolicies: on } } })
    const bus = await connectBus({ servers: up.ready.natsUrl, name: 'e2e', signal: new AbortController().signal })
    try {
      const registry = await openTenantRegistry(bus, 1)
      const entry = await registry.get(tenant.name)
      if (entry === undefined) throw new Error('the tenant is not registered')
      await registry.put({ ...entry, config: wrong })
      const namespace = await tenant.namespace()
      const ref = { namespace, name: 'closed' }
      await tenant.cluster.create(policyOf(namespace, 'closed'))
      await host.until(POLICIES, tenant.copyOf(ref), () => true)
      await configure(up, tenant.name, {})
      await host.untilGone(POLICIES, tenant.copyOf(ref))
    } finally {
      await bus.close()
    }
  })

  test('a change made while the services are down holds from their start on', async () => {
    const { host, tenants } = current()
    const [tenant] = tenants
    const namespace = await tenant.namespace()
    const ref = { namespace, name: 'closed' }
    const name = unique('gvisor')
    await host.create(runtimeClassOf(name))
    await tenant.cluster.create(policyOf(namespace, 'closed'))
    await tenant.cluster.create(serviceOf(namespace, 'plain'))
    await host.until('services', tenant.copyOf({ namespace, name: 'plain' }), () => true)
    const restart = async (config: object): Promise<void> => {
      const world = current()
      await world.up.stop()
      const entry = { name: tenant.name, kubeconfig: tenant.cluster.kubeconfig, ...config }
      const others = tenants.slice(1).map((other) => ({ name: other.name, kubeconfig: other.cluster.kubeconfig }))
      const file = written({ tenants: [entry, ...others] })
      world.up = await world.up.restart({ tenants: [], args: ['--config', file] })
    }
    // As inline configuration, and as the file of another project.
    await restart({ config: { sync: { toHost: { networkPolicies: on, services: off } } } })
    await host.until(POLICIES, tenant.copyOf(ref), () => true)
    await host.untilGone('services', tenant.copyOf({ namespace, name: 'plain' }))
    const vcluster = { sync: { fromHost: { runtimeClasses: on } }, controlPlane: { ingress: { enabled: true } } }
    await restart({ configFile: written(vcluster) })
    await host.until('services', tenant.copyOf({ namespace, name: 'plain' }), () => true)
    await host.untilGone(POLICIES, tenant.copyOf(ref))
    await tenant.cluster.until(CLASSES, { name }, () => true)
    expect(await tenant.cluster.find(POLICIES, ref)).toBeDefined()
    // Nothing is asked for twice where nobody would have seen that it was done.
    const isOpen = (line: string): boolean => line.startsWith(POLICIES)
    await expect.poll(() => pendingWrites(current().up, tenant.name).filter(isOpen), { timeout: 5_000 }).toEqual([])
  })

  test('a change made while single services are down holds once they are back', async ({ skip }) => {
    const { host, tenants, up, separate } = current()
    if (!separate) skip('one process is down as a whole')
    const [tenant] = tenants
    const namespace = await tenant.namespace()
    const ref = { namespace, name: 'closed' }
    await tenant.cluster.create(policyOf(namespace, 'closed'))
    const roles = ['watcher', 'translator', 'writer']
    const pids = (): (number | undefined)[] => roles.map((role) => up.pids()[role])
    const before = pids()
    for (const pid of before) process.kill(pid ?? 0, 'SIGKILL')
    await configure(up, tenant.name, { sync: { toHost: { networkPolicies: on } } })
    await host.until(POLICIES, tenant.copyOf(ref), () => true)
    expect(pids().some((pid) => before.includes(pid))).toBe(false)
    await configure(up, tenant.name, {})
    await host.untilGone(POLICIES, tenant.copyOf(ref))
  })
}
