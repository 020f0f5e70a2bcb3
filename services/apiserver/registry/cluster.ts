import type { Clock } from '#libs/kernel'
import type { ResourceCatalog } from '../discovery/resource-catalog.ts'
import type { ClusterStore } from '../storage/store.ts'
import type { ServiceAccountTokens } from '../tokens/service-account-tokens.ts'
import type { ServiceNetwork } from './service-network.ts'

/** One cluster as the registry's functions work on it. */
export type Cluster = {
  readonly name: string
  readonly store: ClusterStore
  readonly clock: Clock
  readonly newUid: () => string
  /** A number in [0, 1), for generated names. */
  readonly random: () => number
  readonly network: ServiceNetwork
  /** What it serves. */
  readonly catalog: ResourceCatalog
  readonly tokens: ServiceAccountTokens
  /** Aborts when the cluster closes. Absent: it never does. */
  readonly closing?: AbortSignal
}

/** The time as objects carry it: whole seconds, UTC. */
export function timestamp(cluster: Cluster): string {
  return timeText(cluster.clock.now())
}

/** Milliseconds since the epoch as an API time. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
