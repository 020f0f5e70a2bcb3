import type { Clock } from '#libs/kernel'
import type { ClusterApi } from '../cluster-api.ts'
import type { Informers } from './informer.ts'

/** What controllers say; a pino logger fits. */
export type ControllerLog = {
  debug(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** How the cluster serves a kind, as far as controllers need it. */
export type ControllerResource = {
  group: string
  plural: string
  kind: string
  namespaced: boolean
  verbs: readonly string[]
}

/** What a cluster serves: its CustomResourceDefinitions add to it and take away. */
export type ServedResources = {
  all(): readonly ControllerResource[]
  /** Calls back after a change. @returns stops the calls */
  onChange(listener: () => void): () => void
}

/** What every controller of a cluster works with. */
export type ControllerContext = {
  api: ClusterApi
  informers: Informers
  clock: Clock
  /** A number in [0, 1), for generated names and jitter. */
  random: () => number
  log: ControllerLog
}

/** A running control loop. */
export type Controller = {
  /** Stops it; changes that come later are not acted on. */
  close(): void
}

/** The clock's time as API objects carry it: whole seconds, UTC. */
export function timestamp(clock: Clock): string {
  return toTimestamp(clock.now())
}

/** Milliseconds since the epoch as an API time. */
export function toTimestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
