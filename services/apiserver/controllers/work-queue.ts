import { backoffDelay, createDelayedKeys, errorMessage } from '#libs/kernel'
import type { Clock } from '#libs/kernel'
import { ApiError } from '../api-error.ts'
import type { ControllerLog } from './controller-context.ts'

/** Keys that wait for their reconciliation. */
export type WorkQueue = {
  /** Wakes a key. A key that waits already is not added twice. */
  add(key: string, delayMs?: number): void
  close(): void
}

export type WorkQueueOptions = {
  /** Name of the controller, for the log. */
  name: string
  /**
   * Brings one key to its desired state; returns the milliseconds after which to look again, or nothing. Throwing means
   * a retry: at once after a conflict, else with exponential backoff.
   */
  reconcile: (key: string) => number | void
  clock: Clock
  random: () => number
  log: ControllerLog
}

/** Time a queue may hold the event loop for: requests of the API server are served in between. */
const SLICE_MS = 3
const RETRY = { baseMs: 20, capMs: 30_000 }

/** A de-duplicating queue with one worker. A key that is woken while it is worked on runs once more afterwards. */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { name, reconcile, clock, random, log } = options
  const ready = new Set<string>()
  const delayed = createDelayedKeys(clock, add)
  const failures = new Map<string, number>()
  let isScheduled = false
  let isClosed = false

  function schedule(): void {
    if (isScheduled || isClosed || ready.size === 0) return
    isScheduled = true
    setImmediate(runSlice)
  }

  function runSlice(): void {
    isScheduled = false
    const endMs = clock.now() + SLICE_MS
    for (const key of ready) {
      if (isClosed) return
      ready.delete(key)
      runKey(key)
      if (clock.now() >= endMs) break
    }
    schedule()
  }

  function runKey(key: string): void {
    try {
      const againMs = reconcile(key)
      failures.delete(key)
      if (typeof againMs === 'number') add(key, againMs)
    } catch (error) {
      retry(key, error)
    }
  }

  function retry(key: string, error: unknown): void {
    const attempt = failures.get(key) ?? 0
    failures.set(key, attempt + 1)
    const isConflict = error instanceof ApiError && error.code === 409
    if (isConflict) log.debug({ controller: name, key, attempt, err: errorMessage(error) }, 'reconcile conflicted')
    else log.warn({ controller: name, key, attempt, err: error }, 'reconcile failed')
    add(key, isConflict && attempt < 5 ? 1 : 1 + backoffDelay(RETRY, attempt, random))
  }

  function add(key: string, delayMs = 0): void {
    if (isClosed || ready.has(key)) return
    if (delayMs <= 0) {
      ready.add(key)
      schedule()
      return
    }
    delayed.add(key, delayMs)
  }

  return {
    add,
    close: () => {
      isClosed = true
      ready.clear()
      delayed.clear()
    },
  }
}
