import { expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { isRunning, podOf, shownState, specOf, unique } from '../../harness/objects.ts'
import type { Tenant, World } from '../../harness/world.ts'

/** Waits until the tenant's pod runs and shows what its host copy does. */
async function untilAgreed(
  world: World,
  tenant: Tenant,
  ref: { namespace: string; name: string },
  timeoutMs = 30_000,
): Promise<{ virtual: KubeObject; copy: KubeObject }> {
  await tenant.cluster.until('pods', ref, isRunning, { timeoutMs })
  let copy = await world.host.get('pods', tenant.copyOf(ref))
  // The host may still add to a status after its first Running.
  const virtual = await expect
    .poll(
      async () => {
        copy = await world.host.get('pods', tenant.copyOf(ref))
        return shownState(await tenant.cluster.get('pods', ref))
      },
      { timeout: 10_000 },
    )
    .toSatisfy((shown: object) => JSON.stringify(shown) === JSON.stringify(shownState(copy)))
    .then(() => tenant.cluster.get('pods', ref))
  return { virtual, copy }
}

export function podTests(current: () => World): void {
  test('a pod runs on the host under its translated name and stamps, and the tenant sees what the host says', async () => {
    const world = current()
    const tenant = world.tenants[0]
    const namespace = await tenant.namespace()
    const made = await tenant.cluster.create(podOf(namespace, 'web', { labels: { app: 'web' } }))
    const { virtual, copy } = await untilAgreed(world, tenant, { namespace, name: 'web' })
    expect(copy.metadata).toMatchObject({
      name: `web-x-${namespace}-x-${tenant.name}`,
      namespace: tenant.hostNamespace,
      labels: { app: 'web', 'causeway.dev/tenant': tenant.name, 'causeway.dev/namespace': namespace },
      annotations: {
        'causeway.dev/name': 'web',
        'causeway.dev/namespace': namespace,
        'causeway.dev/uid': made.metadata.uid,
        'causeway.dev/resource': 'pods',
        'causeway.dev/host-name': `${tenant.hostNamespace}/web-x-${namespace}-x-${tenant.name}`,
      },
    })
    expect(virtual.metadata.uid).toBe(made.metadata.uid)
    expect(shownState(virtual)).toMatchObject({ phase: 'Running', podIP: expect.stringMatching(/\d/) })
    const node = specOf(virtual).nodeName ?? ''
    expect(await tenant.cluster.find('nodes', { name: node })).toBeDefined()
  })

  test('several tenants use the same names at once', async () => {
    const world = current()
    const namespace = unique('same')
    for (const tenant of world.tenants) await tenant.namespace(namespace)
    await Promise.all(world.tenants.map((tenant) => tenant.cluster.create(podOf(namespace, 'web'))))
    const pairs = await Promise.all(
      world.tenants.map((tenant) => untilAgreed(world, tenant, { namespace, name: 'web' })),
    )
    for (const [index, { virtual, copy }] of pairs.entries()) {
      expect(copy.metadata.namespace).toBe(world.tenants[index]?.hostNamespace)
      expect(copy.metadata.annotations?.['causeway.dev/uid']).toBe(virtual.metadata.uid)
    }
    expect(new Set(pairs.map(({ copy }) => copy.metadata.uid)).size).toBe(world.tenants.length)
  })

  test('names that are long or have dots run, and appear in the tenant as they were', async () => {
    const world = current()
    const tenant = world.tenants[0]
    const namespace = await tenant.namespace()
    const names = ['web.v1.example', `${'long-'.repeat(40)}name`, `${'a.'.repeat(60)}a`]
    await Promise.all(names.map((name) => tenant.cluster.create(podOf(namespace, name))))
    const pairs = await Promise.all(names.map((name) => untilAgreed(world, tenant, { namespace, name })))
    for (const [index, { copy }] of pairs.entries()) {
      expect(Buffer.byteLength(copy.metadata.name ?? '')).toBeLessThanOrEqual(63)
      expect(copy.metadata.annotations?.['causeway.dev/name']).toBe(names[index])
    }
  })

  test('names that could be read as one another’s get host objects of their own', async () => {
    const world = current()
    const tenant = world.tenants[0]
    for (const namespace of ['b-x-c', 'c']) await tenant.namespace(namespace)
    const refs = [
      { namespace: 'b-x-c', name: 'a' },
      { namespace: 'c', name: 'a-x-b' },
    ]
    await Promise.all(refs.map(({ namespace, name }) => tenant.cluster.create(podOf(namespace, name))))
    const pairs = await Promise.all(refs.map((ref) => untilAgreed(world, tenant, ref)))
    expect(new Set(pairs.map(({ copy }) => copy.metadata.uid)).size).toBe(2)
    expect(pairs.map(({ copy }) => copy.metadata.annotations?.['causeway.dev/name'])).toEqual(['a', 'a-x-b'])
  })

  test('a tenant cannot pass its pod off as another’s', async () => {
    const world = current()
    const [tenant, other] = world.tenants
    const namespace = await tenant.namespace()
    const forged = {
      'causeway.dev/tenant': other.name,
      'causeway.dev/namespace': 'default',
      'causeway.dev/uid': 'forged',
      'causeway.dev/name': 'forged',
    }
    const pod = podOf(namespace, 'web', { labels: { ...forged, app: 'web' } })
    await tenant.cluster.create({ ...pod, metadata: { ...pod.metadata, annotations: forged } })
    const { copy, virtual } = await untilAgreed(world, tenant, { namespace, name: 'web' })
    expect(copy.metadata.labels).toMatchObject({
      app: 'web',
      'causeway.dev/tenant': tenant.name,
      'causeway.dev/namespace': namespace,
    })
    expect(copy.metadata.annotations).toMatchObject({
      'causeway.dev/name': 'web',
      'causeway.dev/uid': virtual.metadata.uid,
    })
    const others = await world.host.list('pods', other.hostNamespace)
    expect(others.filter(({ metadata }) => metadata.annotations?.['causeway.dev/uid'] === 'forged')).toEqual([])
  })
}
