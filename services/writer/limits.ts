/** Bounds of the writer's work. */
export type WriterLimits = {
  /** How long a write is tried before it is parked, in milliseconds. */
  deadlineMs: number
  /** How long one call may take, in milliseconds. */
  callTimeoutMs: number
  /** Intents held in memory, over all partitions of a process; beyond that the log is read no further. */
  maxHeld: number
  /** Intents held of one tenant; beyond that they are parked, so that one tenant cannot stop the reading. */
  maxPerTenant: number
  /** How often the position is stored, in milliseconds. */
  positionEveryMs: number
  /** How long a stop waits for calls that are under way, in milliseconds. */
  drainMs: number
  /** How often the lease of each virtual node is renewed, in milliseconds; they last 40 s. */
  heartbeatMs: number
}

export const DEFAULT_LIMITS: WriterLimits = {
  deadlineMs: 30_000,
  callTimeoutMs: 15_000,
  maxHeld: 20_000,
  maxPerTenant: 5_000,
  positionEveryMs: 250,
  drainMs: 5_000,
  heartbeatMs: 15_000,
}
