import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import type { Bus } from '#libs/bus'
import { type KubeClient, isAlreadyExists, isNotFound } from '#libs/kube'
import { RESOURCES } from '#libs/kube-model'
import { ConfigError } from '#libs/kernel'
import { parseTenantConfig, placementProblem } from '#libs/sync-config'
import { type TenantEntry, openTenantRegistry } from '#libs/runtime'
import type { DataFolder } from './data-folder.ts'
import { requireOwnClusters } from './own-cluster.ts'
import { type PlannedTenant, type UpPlan, defaultHostNamespace, sharedNamespaces } from './plan.ts'

/** On host namespaces that we made, so that we know which we may delete. */
export const MANAGED_LABEL = 'causeway.dev/managed'
/** On the same, whose it is. */
export const TENANT_ANNOTATION = 'causeway.dev/tenant'

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
    annotations: { [TENANT_ANNOTATION]: tenant },
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
  const wanted = (explicit || known.size === 0 ? plan.tenants : []).map((tenant) =>
    placed(tenant, known.get(tenant.name)),
  )
  const others = [...known.values()].filter(({ name }) => !wanted.some((tenant) => tenant.name === name))
  for (const { name, config } of wanted) {
    const before = known.get(name)
    if (before !== undefined && config !== undefined) checkPlacement(before, config)
  }
  const problems = sharedNamespaces([...others, ...wanted])
  if (problems.length > 0) throw new ConfigError(problems)
  if (wanted.some(({ kubeconfig }) => kubeconfig !== undefined)) {
    const tenants = [...others, ...wanted].flatMap(({ name, kubeconfig }) =>
      kubeconfig === undefined ? [] : [{ name, kubeconfig: resolve(kubeconfig) }],
    )
    await requireOwnClusters({ hostKubeconfig: resolve(hostKubeconfig), tenants })
  }
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

/**
 * The copies of a tenant that is registered already stay in the namespaces that they are in.
 * @throws ConfigError when the configuration puts them elsewhere
 */
export function checkPlacement(before: TenantEntry, config: Record<string, unknown>): void {
  const [was, is] = [before.config ?? {}, config].map((each) => parseTenantConfig(each).config)
  const problem = was === undefined || is === undefined ? undefined : placementProblem(was, is)
  if (problem !== undefined) throw new ConfigError([`tenant "${before.name}": ${problem}`])
}

/**
 * A tenant that is registered already stays in its namespace: its pods cannot be moved.
 * @throws ConfigError when it was asked to move
 */
function placed(tenant: PlannedTenant, before: TenantEntry | undefined): PlannedTenant {
  if (before === undefined || before.hostNamespace === tenant.hostNamespace) return tenant
  if (tenant.hostNamespace === defaultHostNamespace(tenant.name)) {
    return { ...tenant, hostNamespace: before.hostNamespace }
  }
  throw new ConfigError([
    `tenant "${tenant.name}" runs in host namespace "${before.hostNamespace}" and cannot move to "${tenant.hostNamespace}": ` +
      'delete it first, or leave the namespace out',
  ])
}
