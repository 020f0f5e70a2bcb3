import { expect, test } from 'vitest'
import type { World } from '../../harness/world.ts'

type ServiceSpec = { clusterIP?: string; clusterIPs?: string[]; selector?: Record<string, string> }

export function serviceTests(current: () => World): void {
  test('show the tenant the address that the host gave', async () => {
    const { host, tenants } = current()
    const tenant = tenants[0]
    const namespace = await tenant.namespace()
    const ref = { namespace, name: 'web' }
    await tenant.cluster.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: ref,
      spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
    })
    const copy = await host.until('services', tenant.copyOf(ref), ({ spec }) =>
      Boolean((spec as ServiceSpec).clusterIP),
    )
    const { clusterIP, clusterIPs, selector } = copy['spec'] as ServiceSpec
    expect(selector).toEqual({
      app: 'web',
      'causeway.dev/tenant': tenant.name,
      'causeway.dev/namespace': namespace,
    })
    const virtual = await tenant.cluster.until(
      'services',
      ref,
      ({ spec }) => (spec as ServiceSpec).clusterIP === clusterIP,
    )
    expect((virtual['spec'] as ServiceSpec).clusterIPs).toEqual(clusterIPs)
    expect((virtual['spec'] as ServiceSpec).selector).toEqual({ app: 'web' })
    await tenant.cluster.delete('services', ref)
    await host.untilGone('services', tenant.copyOf(ref))
  })

  test('that get another address keep what names them as its owner', async () => {
    const { host, tenants } = current()
    const tenant = tenants[0]
    const namespace = await tenant.namespace()
    const ref = { namespace, name: 'owner' }
    const spec = { selector: { app: 'owner' }, ports: [{ port: 80 }] }
    const metadata = { ...ref, annotations: { 'causeway.dev/sync': 'false' } }
    const { metadata: made } = await tenant.cluster.create({ apiVersion: 'v1', kind: 'Service', metadata, spec })
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Service', name: 'owner', uid: made.uid ?? '' }]
    const owned = { namespace, name: 'owned' }
    await tenant.cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...owned, ownerReferences } })
    await tenant.cluster.patch('services', ref, { metadata: { annotations: { 'causeway.dev/sync': null } } })
    const copy = await host.until('services', tenant.copyOf(ref), () => true)
    const { clusterIP } = copy['spec'] as ServiceSpec
    const now = await tenant.cluster.until(
      'services',
      ref,
      ({ spec: found }) => (found as ServiceSpec).clusterIP === clusterIP,
    )
    const isAnother = now.metadata.uid !== made.uid
    const kept = await tenant.cluster.get('configmaps', owned)
    expect(kept.metadata.ownerReferences ?? []).toEqual(isAnother ? [] : ownerReferences)
    await tenant.cluster.delete('services', ref)
    await host.untilGone('services', tenant.copyOf(ref))
  })

  test('of several tenants under one name have addresses of their own', async () => {
    const { host, tenants } = current()
    const ref = { namespace: 'default', name: 'twin' }
    const spec = { ports: [{ port: 80 }], selector: { app: 'twin' } }
    const addresses = await Promise.all(
      tenants.map(async (tenant) => {
        await tenant.cluster.create({ apiVersion: 'v1', kind: 'Service', metadata: ref, spec })
        const copy = await host.until('services', tenant.copyOf(ref), () => true)
        const { clusterIP } = copy['spec'] as ServiceSpec
        await tenant.cluster.until('services', ref, (found) => (found['spec'] as ServiceSpec).clusterIP === clusterIP)
        return clusterIP
      }),
    )
    expect(new Set(addresses).size).toBe(tenants.length)
    await Promise.all(tenants.map((tenant) => tenant.cluster.delete('services', ref)))
  })
}
