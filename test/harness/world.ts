import { hostName } from '#libs/translation'
import { type Cluster, type KindName, type Ref, openCluster } from './cluster.ts'
import { type Clusters, givenClusters, startClusters } from './clusters.ts'
import { removeTestDefinitions } from './definitions.ts'
import { type Installation, startUp } from './installation.ts'
import { unique } from './objects.ts'

/** Every test of the pipeline runs in both. */
export const MODES = [
  { mode: 'in one process', separate: false },
  { mode: 'in separate processes', separate: true },
] as const

/** A tenant as a test sees it. */
export type Tenant = {
  name: string
  hostNamespace: string
  cluster: Cluster
  /** Makes a namespace of a name that no other test uses, ready for pods. */
  namespace(name?: string): Promise<string>
  /** Where the host copy of an object is. */
  copyOf(ref: Ref): { namespace: string; name: string }
  /** The host copy of an object, when there is one. */
  findCopy(kind: KindName, ref: Ref): Promise<Awaited<ReturnType<Cluster['find']>>>
}

/** An installation with the clusters it serves. */
export type World = {
  up: Installation
  host: Cluster
  tenants: [Tenant, Tenant, ...Tenant[]]
  close(): Promise<void>
}

/** Starts an installation with embedded clusters, or on those that the environment gives. */
export async function openWorld(options: { separate: boolean }): Promise<World> {
  return givenClusters() === undefined ? openEmbedded(options) : openOn(await startClusters(), options)
}

async function openEmbedded(options: { separate: boolean }): Promise<World> {
  const up = await startUp({ ...options, tenants: ['a', 'b'] })
  const view = await openView({ host: up.ready.hostKubeconfig, tenants: tenantKubeconfigs(up) })
  return {
    up,
    ...view,
    close: async () => {
      await view.close()
      await up.dispose()
    },
  }
}

async function openOn(clusters: Clusters, options: { separate: boolean }): Promise<World> {
  const up = await startUp({ ...options, ...upOptionsFor(clusters) })
  const view = await openView({ host: clusters.hostKubeconfig, tenants: clusters.tenants })
  return {
    up,
    ...view,
    close: async () => {
      try {
        await view.clean()
      } finally {
        await view.close()
        await up.dispose()
        await clusters.stop()
      }
    },
  }
}

/** What `up` is told to serve these clusters. */
export function upOptionsFor(clusters: Clusters): { hostKubeconfig: string; tenants: string[] } {
  const tenants = Object.entries(clusters.tenants).map(([name, kubeconfig]) => `${name}=${kubeconfig}`)
  return { hostKubeconfig: clusters.hostKubeconfig, tenants }
}

/** The sides of an installation, without the installation. */
export type SidesView = Pick<World, 'host' | 'tenants' | 'close'> & {
  /**
   * Deletes all that was made through it, and waits until the namespaces are gone and the host is empty of their
   * copies. For clusters that stay; to be called while Causeway runs.
   */
  clean(): Promise<void>
}

/** Connects to a host and tenants. */
export async function openView(kubeconfigs: { host: string; tenants: Record<string, string> }): Promise<SidesView> {
  const host = await openCluster(kubeconfigs.host)
  if (givenClusters() !== undefined) await removeTestDefinitions(host)
  const made: { tenant: Tenant; namespace: string }[] = []
  const tenants = await Promise.all(
    Object.entries(kubeconfigs.tenants).map(async ([name, kubeconfig]) => {
      const cluster = await openCluster(kubeconfig)
      if (givenClusters() !== undefined) await removeTestDefinitions(cluster)
      const tenant = tenantOf(name, host, cluster, (namespace) => made.push({ tenant, namespace }))
      return tenant
    }),
  )
  const [first, second, ...rest] = tenants
  if (first === undefined || second === undefined) throw new Error('the tests need two tenants')
  return {
    host,
    tenants: [first, second, ...rest],
    clean: async () => {
      for (const cluster of [...tenants.map((tenant) => tenant.cluster), host]) await cluster.removeMade()
      const isCopy = (labels: Record<string, string> = {}, namespace: string): boolean =>
        labels['causeway.dev/namespace'] === namespace
      for (const { tenant, namespace } of made) {
        await tenant.cluster.untilGone('namespaces', { name: namespace }, { timeoutMs: 60_000 })
        await host.untilAll('pods', tenant.hostNamespace, (pods) =>
          pods.every(({ metadata }) => !isCopy(metadata.labels, namespace)),
        )
      }
    },
    close: async () => {
      await Promise.all([host, ...tenants.map(({ cluster }) => cluster)].map((cluster) => cluster.close()))
    },
  }
}

function tenantOf(name: string, host: Cluster, cluster: Cluster, onMade: (namespace: string) => void): Tenant {
  const hostNamespace = `causeway-${name}`
  const copyOf = (ref: Ref): { namespace: string; name: string } => ({
    namespace: hostNamespace,
    name: hostName({ namespace: '', ...ref }, name),
  })
  return {
    name,
    hostNamespace,
    cluster,
    copyOf,
    findCopy: (kind, ref) => host.find(kind, copyOf(ref)),
    namespace: async (namespace = unique('e2e')) => {
      await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      onMade(namespace)
      // Real clusters refuse pods before.
      await cluster.until('serviceaccounts', { namespace, name: 'default' }, () => true)
      return namespace
    },
  }
}

function tenantKubeconfigs(up: Installation): Record<string, string> {
  const { host: _host, ...tenants } = up.ready.kubeconfigs
  return tenants
}
