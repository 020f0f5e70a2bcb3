import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Clock } from '#libs/kernel'
import { KubeconfigError } from '../errors.ts'
import type { ClusterAccess, ClusterConfig, RefreshReason } from './cluster-config.ts'
import { inClusterAccess } from './in-cluster.ts'
import { readKubeconfig } from './kubeconfig-file.ts'
import { needsPlugin, plainAccess, rejectUnsupported } from './plain-access.ts'
import { openPluginSession } from './plugin-access.ts'
import type { PluginSession } from './plugin-access.ts'

/** Tokens and certificates in files are exchanged under us; kubelet renews them well before they expire. */
const MAX_AGE_MS = 60_000

export type ClusterConfigOptions = {
  /** The kubeconfig. @default `KUBECONFIG`, `~/.kube/config`, or the service account of the pod, the first there is */
  path?: string
  /** @default the file's `current-context` */
  context?: string
  env: Readonly<Record<string, string | undefined>>
  clock: Clock
}

/**
 * Reads where a cluster is and how to be let in. Files are read and plugins asked again once a minute, on 401, and when
 * the server cannot be reached (it may have come back under another address). What was read last stays in use when
 * reading again fails, except after a 401.
 * @throws KubeconfigError at once when the configuration cannot be used
 */
export async function loadClusterConfig(options: ClusterConfigOptions): Promise<ClusterConfig> {
  const path = options.path ?? defaultPath(options.env)
  const read = path === undefined ? () => inClusterAccess(options.env) : kubeconfigReader(path, options.context)
  return cached({ source: path ?? 'in-cluster service account', read, clock: options.clock })
}

function defaultPath(env: ClusterConfigOptions['env']): string | undefined {
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '')
  if (listed.length > 1) {
    throw new KubeconfigError(
      `KUBECONFIG names ${listed.length} files; merging is not supported, name one (or write one with \`kubectl config view --flatten\`)`,
    )
  }
  if (listed[0] !== undefined) return listed[0]
  const home = env['HOME'] === undefined ? undefined : join(env['HOME'], '.kube', 'config')
  if (home !== undefined && existsSync(home)) return home
  if (env['KUBERNETES_SERVICE_HOST']) return undefined
  throw new KubeconfigError('no kubeconfig: name one, set KUBECONFIG, or write ~/.kube/config')
}

type Read = (reason: RefreshReason | undefined) => Promise<ClusterAccess>

function kubeconfigReader(path: string, context: string | undefined): Read {
  let session: PluginSession | undefined
  return async (reason) => {
    if (session !== undefined && reason !== 'rejected') return session.access()
    const selection = await readKubeconfig(path, context)
    rejectUnsupported(selection)
    if (!needsPlugin(selection)) return plainAccess(selection)
    session = await openPluginSession(selection)
    return session.access()
  }
}

async function cached(source: { source: string; read: Read; clock: Clock }): Promise<ClusterConfig> {
  let current = await source.read(undefined)
  let readAt = source.clock.now()
  let reading: Promise<ClusterAccess> | undefined
  const readAgain = async (reason: RefreshReason | undefined): Promise<ClusterAccess> => {
    const fresh = await source.read(reason).catch((error: unknown) => {
      if (reason === 'rejected') throw error
      return current
    })
    // Connections are kept as long as this object: a new token must not cost new handshakes.
    current = sameTls(current, fresh) ? { ...fresh, tls: current.tls } : fresh
    readAt = source.clock.now()
    return current
  }
  return {
    source: source.source,
    access: async (reason) => {
      if (reason === undefined && source.clock.now() - readAt < MAX_AGE_MS) return current
      reading ??= readAgain(reason).finally(() => {
        reading = undefined
      })
      return reading
    },
  }
}

function sameTls(a: ClusterAccess, b: ClusterAccess): boolean {
  const fields = ['ca', 'cert', 'key', 'servername', 'rejectUnauthorized'] as const
  return fields.every((field) => String(a.tls[field]) === String(b.tls[field]))
}
