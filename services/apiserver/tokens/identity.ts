/** Who makes a request. */
export type Identity = {
  username: string
  uid?: string
  groups: readonly string[]
  extra?: Readonly<Record<string, readonly string[]>>
}

/** The holder of a cluster's own token. */
export const ADMIN: Identity = { username: 'admin', groups: ['system:masters', 'system:authenticated'] }

/** Whoever has no token. */
export const ANONYMOUS: Identity = { username: 'system:anonymous', groups: ['system:unauthenticated'] }
