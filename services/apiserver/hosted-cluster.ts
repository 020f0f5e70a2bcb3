import { randomUUID } from 'node:crypto'
import type { Clock } from '#libs/kernel'
import { startControllers } from './controllers/index.ts'
import type { ControllerLog } from './controllers/index.ts'
import { startDefinitionController } from './custom-resources/definition-controller.ts'
import { ResourceCatalog } from './discovery/resource-catalog.ts'
import { bootstrapCluster } from './registry/bootstrap.ts'
import type { Cluster } from './registry/cluster.ts'
import { createEmbeddedApi } from './registry/embedded-api.ts'
import { ServiceNetwork } from './registry/service-network.ts'
import type { ServiceNetworkOptions } from './registry/service-network.ts'
import { ServiceAccountTokens } from './tokens/service-account-tokens.ts'
import { ClusterStore } from './storage/store.ts'

export type ClusterOptions = ServiceNetworkOptions & {
  /** Run the controllers (Deployments, ReplicaSets, namespaces, garbage …). @default true */
  controllers?: boolean
}

export type HostedClusterOptions = {
  name: string
  /** Path of the SQLite file, or `:memory:`. */
  file: string
  /** Applied when the cluster is new; afterwards those it was made with stay. */
  options: ClusterOptions
  historyLimit?: number | undefined
  historySize?: number | undefined
  port: number
  caCertificate: string
  clock: Clock
  log: ControllerLog
}

/** A cluster that runs: its store, and the controllers that work on it. */
export type HostedCluster = {
  readonly cluster: Cluster
  /** Forgets all but the newest `keep` changes, so that older watches get 410. */
  compact(keep: number): void
  close(): void
}

const SETTING = 'options'

/** Field manager of what the server itself writes. */
const SERVER_MANAGER = 'kube-apiserver'

/** Opens a cluster's file, makes it if it is new, and starts its controllers. */
export function openCluster(open: HostedClusterOptions): HostedCluster {
  const { name, clock, log, port } = open
  const store = new ClusterStore({
    file: open.file,
    ...(open.historyLimit === undefined ? {} : { historyLimit: open.historyLimit }),
    ...(open.historySize === undefined ? {} : { historySize: open.historySize }),
  })
  const known = store.setting(SETTING)
  const options = known === undefined ? open.options : (JSON.parse(known) as ClusterOptions)
  const network = new ServiceNetwork(store, options)
  const closing = new AbortController()
  const cluster: Cluster = {
    name,
    store,
    clock,
    newUid: randomUUID,
    random: Math.random,
    network,
    catalog: new ResourceCatalog(),
    tokens: new ServiceAccountTokens({ store, clock, newUid: randomUUID }),
    closing: closing.signal,
  }
  const api = createEmbeddedApi(cluster)
  const own = createEmbeddedApi(cluster, SERVER_MANAGER)
  const stopDefinitions = startDefinitionController(cluster, own)
  bootstrapCluster(cluster, api, port)
  if (known === undefined) {
    store.setSetting(SETTING, JSON.stringify(options))
    // Nobody can have seen the first revisions: a watch from them means a client of an earlier cluster.
    store.compact(0)
  }
  const controllers =
    options.controllers === false
      ? undefined
      : startControllers(api, { clock, log, resources: cluster.catalog, caCertificate: open.caCertificate })
  return {
    cluster,
    compact: (keep) => store.compact(keep),
    close: () => {
      closing.abort()
      controllers?.close()
      stopDefinitions()
      own.close()
      api.close()
      store.close()
    },
  }
}
