/** TLS material of a connection, as `node:tls` takes it. */
export type TlsMaterial = {
  ca?: string | Buffer
  cert?: string | Buffer
  key?: string | Buffer
  servername?: string
  rejectUnauthorized?: boolean
}

/** What one request needs. The same `tls` object is handed out until the material changes. */
export type ClusterAccess = {
  /** Base URL without a trailing slash; it may have a path, such as `/clusters/team-a`. */
  server: string
  tls: TlsMaterial
  /** Headers that authenticate; to be asked for with every request, as tokens are exchanged. */
  headers: Record<string, string>
}

/** Why fresh credentials are asked for: the server answered 401, or it could not be reached where it was. */
export type RefreshReason = 'rejected' | 'unreachable'

/** Where a cluster is and how to be let in. */
export type ClusterConfig = {
  /** Where this configuration comes from, for messages. */
  readonly source: string
  /** Current access; with a reason, sources are read again first. Throws {@link KubeconfigError}. */
  access(reason?: RefreshReason): Promise<ClusterAccess>
}

/** A configuration that never changes: for tests and for callers that hold the credentials themselves. */
export function staticClusterConfig(options: {
  server: string
  token?: string
  ca?: string | Buffer
  source?: string
}): ClusterConfig {
  const access: ClusterAccess = {
    server: options.server.replace(/\/+$/, ''),
    tls: options.ca === undefined ? {} : { ca: options.ca },
    headers: options.token === undefined ? {} : { authorization: `Bearer ${options.token}` },
  }
  return { source: options.source ?? access.server, access: () => Promise.resolve(access) }
}
