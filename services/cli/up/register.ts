import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import type { Bus } from '#libs/bus'
import { type KubeClient, isAlreadyExists, isNotFound } from '#libs/kube'
import { RESOURCES } from '#libs/kube-model'
import { type TenantEntry, openTenantRegistry } from '#libs/runtime'
import type { DataFolder } from './data-folder.ts'
import type { UpPlan } from './plan.ts'

/** On host namespaces that we made, so that we know which we may delete. */
export const MANAGED_LABEL = 'causeway.dev/managed'

/** Makes the tenant's host namespace unless it exists. */
export async function ensureHostNamespace(host: KubeClient, namespace: string, tenant: string): Promise<void> {
  try {
    await host.get(RESOURCES.namespaces, { name: namespace })
    return
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  const metadata = {
    name: namespace,
    labels: { [MANAGED_LABEL]: 'true' },
    annotations: { 'causeway.dev/tenant': tenant },
  }
  try {
    await host.create(RESOURCES.namespaces, {}, { apiVersion: 'v1', kind: 'Namespace', metadata })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}

/**
 * Registers the host and the plan's tenants. A tenant that is registered already keeps its identity. Where tenants are
 * registered from an earlier run and none were asked for now, those are served and none are added.
 * @returns all registered tenants
 */
export async function registerAll(options: {
  bus: Bus
  replicas: number
  plan: UpPlan
  explicit: boolean
  /** Where kubeconfigs of embedded tenants are. */
  folder?: DataFolder
  hostClient: KubeClient
  hostKubeconfig: string
}): Promise<TenantEntry[]> {
  const { bus, replicas, plan, explicit, folder, hostClient, hostKubeconfig } = options
  const registry = await openTenantRegistry(bus, replicas)
  await registry.setHost({ kubeconfig: resolve(hostKubeconfig) })
  const known = new Map((await registry.list()).map((tenant) => [tenant.name, tenant]))
  const wanted = explicit || known.size === 0 ? plan.tenants : []
  for (const tenant of wanted) {
    const kubeconfig = resolve(tenant.kubeconfig ?? folder?.kubeconfig(tenant.name) ?? '')
    const before = known.get(tenant.name)
    const same = before?.kubeconfig === kubeconfig
    await ensureHostNamespace(hostClient, tenant.hostNamespace, tenant.name)
    await registry.put({
      ...(same ? before : {}),
      name: tenant.name,
      uid: same ? before.uid : randomUUID(),
      hostNamespace: tenant.hostNamespace,
      kubeconfig,
      ...(tenant.config === undefined ? {} : { config: tenant.config }),
    })
  }
  return registry.list()
}
