import { systemClock } from '#libs/kernel'
import type { Clock } from '#libs/kernel'
import { ApiError } from './api-error.ts'
import { DataDirectory } from './data-directory.ts'
import { openCluster } from './hosted-cluster.ts'
import type { ClusterOptions, HostedCluster } from './hosted-cluster.ts'
import { handleAdmin } from './http/admin-handler.ts'
import { createDispatcher } from './http/dispatcher.ts'
import { listenTls } from './http/tls-server.ts'
import { WATCH_DEFAULTS } from './http/watch-settings.ts'
import { kubeconfigText } from './kubeconfig.ts'

export type { ClusterOptions } from './hosted-cluster.ts'

/** What the server says; a pino logger fits. */
export type ApiserverLog = {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export type ApiserverOptions = {
  /** Folder for certificates, tokens and the clusters' files. */
  dataDir: string
  /** @default "127.0.0.1" */
  host?: string
  /** @default 0, any free one */
  port?: number
  /** Clusters that are made unless they exist; those in the folder are served in any case. */
  clusters?: Readonly<Record<string, ClusterOptions>>
  /** Serve this cluster also at the root of the server. */
  rootCluster?: string
  /** Changes that each cluster keeps for watches to start from. @default 20000 */
  historyLimit?: number
  /** Characters of JSON that these changes have at most together, in each cluster. @default 32 million */
  historySize?: number
  /** Time between bookmarks, in milliseconds. @default 60000 */
  bookmarkIntervalMs?: number
  logger: ApiserverLog
  /** @default the system's clock */
  clock?: Clock
}

export type Apiserver = {
  readonly address: { host: string; port: number; url: string }
  /** Token for `/causeway/`. */
  readonly adminToken: string
  clusterNames(): string[]
  /** @throws Error when there is no such cluster */
  kubeconfig(name: string): string
  /** Path of the cluster's kubeconfig on disk. */
  kubeconfigFile(name: string): string
  /** Makes a cluster unless it exists. @returns its kubeconfig */
  createCluster(name: string, options?: ClusterOptions): string
  /** Removes a cluster with all its objects. @returns false when there is none */
  deleteCluster(name: string): boolean
  /** Makes a cluster forget all but its newest `keep` changes: older watches and lists get 410. */
  compact(name: string, keep: number): void
  close(): Promise<void>
}

const HOSTS = ['127.0.0.1', 'localhost']
const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** Starts the API server with all its clusters. @throws ConfigError when the port is taken */
export async function startApiserver(options: ApiserverOptions): Promise<Apiserver> {
  const { logger, clock = systemClock, host = '127.0.0.1' } = options
  const files = new DataDirectory(options.dataDir)
  const hosts = HOSTS.includes(host) ? HOSTS : [...HOSTS, host]
  const { authority, server: credential } = files.credential(hosts, clock.now())
  const adminToken = files.adminToken()
  const clusters = new Map<string, { hosted: HostedCluster; token: string }>()
  const stopping = new AbortController()

  const dispatch = createDispatcher({
    find: (name) => {
      const found = clusters.get(name)
      return found === undefined ? undefined : { cluster: found.hosted.cluster, token: found.token }
    },
    rootCluster: options.rootCluster,
    admin: (exchange) =>
      handleAdmin(exchange, { names: clusterNames, create: createCluster, delete: deleteCluster }, adminToken),
    watchSettings: {
      ...WATCH_DEFAULTS,
      ...(options.bookmarkIntervalMs === undefined ? {} : { bookmarkIntervalMs: options.bookmarkIntervalMs }),
      signal: stopping.signal,
    },
    log: logger,
  })
  const server = await listenTls({
    host,
    port: options.port ?? 0,
    certificate: credential.certificate,
    key: credential.key,
    handle: dispatch,
  })
  const url = `https://${host}:${server.port}`

  function clusterNames(): string[] {
    return [...clusters.keys()].sort()
  }

  function kubeconfig(name: string): string {
    const found = clusters.get(name)
    if (found === undefined) throw new Error(`there is no cluster ${name}`)
    return kubeconfigText({ name, server: `${url}/clusters/${name}`, authority, token: found.token })
  }

  function createCluster(name: string, clusterOptions: ClusterOptions = {}): string {
    if (!CLUSTER_NAME.test(name)) {
      throw ApiError.badRequest(`${JSON.stringify(name)} is no cluster name: use up to 63 of a-z, 0-9 and -`)
    }
    if (!clusters.has(name)) {
      const hosted = openCluster({
        name,
        file: files.clusterFile(name),
        options: clusterOptions,
        historyLimit: options.historyLimit,
        historySize: options.historySize,
        port: server.port,
        caCertificate: authority,
        clock,
        log: logger,
      })
      clusters.set(name, { hosted, token: files.clusterToken(name) })
      files.writeKubeconfig(name, kubeconfig(name))
      logger.info({ cluster: name }, 'cluster opened')
    }
    return kubeconfig(name)
  }

  function deleteCluster(name: string): boolean {
    const found = clusters.get(name)
    if (found === undefined) return false
    clusters.delete(name)
    found.hosted.close()
    files.removeCluster(name)
    logger.info({ cluster: name }, 'cluster deleted')
    return true
  }

  async function close(): Promise<void> {
    stopping.abort()
    await server.close()
    for (const { hosted } of clusters.values()) hosted.close()
    clusters.clear()
  }

  try {
    for (const [name, clusterOptions] of Object.entries(options.clusters ?? {})) createCluster(name, clusterOptions)
    for (const name of files.clusterNames()) createCluster(name)
  } catch (error) {
    await close()
    throw error
  }
  return {
    address: { host, port: server.port, url },
    adminToken,
    clusterNames,
    kubeconfig,
    kubeconfigFile: (name) => files.kubeconfigFile(name),
    createCluster,
    deleteCluster,
    compact: (name, keep) => clusters.get(name)?.hosted.compact(keep),
    close,
  }
}
