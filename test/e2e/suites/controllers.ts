import { expect, test } from 'vitest'
import { deploymentOf, isRunning } from '../../harness/objects.ts'
import type { World } from '../../harness/world.ts'

export function controllerTests(current: () => World): void {
  test('a Deployment’s pods run on the host, and fewer when it is scaled down', async () => {
    const { host, tenants } = current()
    const tenant = tenants[0]
    const namespace = await tenant.namespace()
    const ref = { namespace, name: 'web' }
    await tenant.cluster.create(deploymentOf(namespace, 'web', 3))
    const isAvailable = (count: number) => (found: { [field: string]: unknown }) =>
      ((found['status'] as { availableReplicas?: number } | undefined)?.availableReplicas ?? 0) === count
    await tenant.cluster.until('deployments', ref, isAvailable(3))
    const pods = await tenant.cluster.untilAll('pods', namespace, (found) => found.filter(isRunning).length === 3)
    const copies = await Promise.all(
      pods.map(({ metadata }) => tenant.findCopy('pods', { namespace, name: metadata.name ?? '' })),
    )
    expect(copies.every((copy) => copy !== undefined && isRunning(copy))).toBe(true)

    await tenant.cluster.patch('deployments', ref, { spec: { replicas: 1 } })
    const [left] = await tenant.cluster.untilAll('pods', namespace, (found) => found.length === 1)
    const ours = ({ metadata }: { metadata: { labels?: Record<string, string> } }): boolean =>
      metadata.labels?.['causeway.dev/namespace'] === namespace
    const onHost = await host.untilAll('pods', tenant.hostNamespace, (found) => found.filter(ours).length === 1)
    expect(onHost.find(ours)?.metadata.annotations?.['causeway.dev/uid']).toBe(left?.metadata.uid)
    await tenant.cluster.until('deployments', ref, isAvailable(1))
  })
}
