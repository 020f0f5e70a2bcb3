import type { Installation, Tenant } from './installation.ts'
import { PodWatch, until } from './pod-watch.ts'
import { BASELINE_NAMESPACE, NAMESPACE, benchName, deletePods, ensureNamespace } from './pods.ts'

/** The clusters as the bench sees them: a watch on each, as a client has it. */
export type Field = {
  host: PodWatch
  tenants: (Tenant & { pods: PodWatch })[]
  /** Deletes all pods of ours and waits until every trace of them is gone. */
  clear(): Promise<void>
  close(): Promise<void>
}

export async function openField({ host, tenants }: Installation): Promise<Field> {
  await ensureNamespace(host, BASELINE_NAMESPACE)
  for (const { client } of tenants) await ensureNamespace(client, NAMESPACE)
  const hostPods = new PodWatch(host, benchName)
  const watched = tenants.map((tenant) => ({ ...tenant, pods: new PodWatch(tenant.client, benchName) }))
  const watches = [hostPods, ...watched.map((tenant) => tenant.pods)]
  for (const watch of watches) await watch.ready()
  const clear = async (): Promise<void> => {
    await deletePods(host, BASELINE_NAMESPACE)
    for (const { client } of tenants) await deletePods(client, NAMESPACE)
    const left = (): number => watches.reduce((sum, watch) => sum + watch.pods.size, 0)
    await until(() => left() === 0, {
      what: 'the end of all pods',
      timeoutMs: 120_000 + left() * 100,
      state: () => `${left()} left`,
    })
  }
  return {
    host: hostPods,
    tenants: watched,
    clear,
    close: async () => {
      for (const watch of watches) await watch.close()
    },
  }
}
