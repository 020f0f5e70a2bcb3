import type { Bus, Kv, Positions, Publisher } from '#libs/bus'
import type { Clock, Pacer } from '#libs/kernel'
import type { ClusterIdentity, TenantDirectory } from '#libs/runtime'
import type { Logger, Tracing } from '#libs/telemetry'
import type { Vault } from '#libs/vault'
import type { ChangeWindows } from './change-windows.ts'
import type { Claims } from './cluster.ts'
import type { HostNamespaces } from './host-namespaces.ts'
import type { WatcherMetrics } from './metrics.ts'
import type { WatchPosition } from './position.ts'
import type { StatusBoard } from './status-board.ts'
import type { UnplacedCopies } from './unplaced-copies.ts'
import type { Verifications } from './verifications.ts'

/** What all watches of a process share. */
export type WatcherParts = {
  bus: Bus
  directory: Pick<TenantDirectory, 'host' | 'tenants' | 'tenant' | 'client' | 'context' | 'subscribe'>
  publisher: Publisher
  positions: Positions<WatchPosition>
  identities: Kv<ClusterIdentity>
  claims: Claims
  board: StatusBoard
  hostNamespaces: HostNamespaces
  unplacedCopies: UnplacedCopies
  vault: Vault
  metrics: WatcherMetrics
  tracing: Tracing
  logger: Logger
  clock: Clock
  pacer: Pacer
  random: () => number
  partitions: number
  /** Time between two verifications of a kind, in milliseconds. */
  verifyEveryMs: number
  verifications: Verifications
  windows: ChangeWindows
  /** When the stream of changes was created. */
  logCreated: string
}

/** The right to watch, as given by a lease. */
export type Ownership = { fence: number; held: () => boolean; signal: AbortSignal }
