import type { Outcome } from '#libs/events'
import { backoffDelay } from '#libs/kernel'
import type { Pending } from '#libs/projection'
import { ECHO_LIMIT_MS } from './plan.ts'

const CONFLICT_BACKOFF = { baseMs: 20, capMs: 5_000 }
const PARKED_BASE_MS = 2_000
/**
 * The longest time between two tries: the shortest of these, since not every cause tells when it has gone, and more
 * where a tenant has much that waits, so that all its tries together stay few.
 */
const PARKED_CAP = { leastMs: 5_000, mostMs: 60_000, perWaitingMs: 500 }

/** More of a tenant than this make no difference to when one of them is tried again. */
export const COUNTED_WAITING = PARKED_CAP.mostMs / PARKED_CAP.perWaitingMs

/** What forbids a write forbids it the next second as well: only an operator or a new version changes that. */
const REFUSED_DELAY_MS = 600_000

/**
 * What is remembered about a write once its outcome is in.
 * @param clock.random a number in [0, 1)
 * @param clock.waiting how much of the tenant waits, this one included
 * @returns `undefined` when the outcome is not of the write that the row is about
 */
export function settle(
  row: Pending | undefined,
  outcome: Outcome,
  clock: { now: number; random: () => number; waiting: () => number },
): Pending | undefined {
  if (row === undefined || row.intentId !== outcome.intentId) return undefined
  const { reason: _reason, message: _message, due: _due, resultVersion: _version, ...rest } = row
  const { now, random, waiting } = clock
  switch (outcome.result) {
    case 'done':
      return {
        ...rest,
        state: 'done',
        since: now,
        due: now + ECHO_LIMIT_MS,
        ...(outcome.resourceVersion === undefined ? {} : { resultVersion: outcome.resourceVersion }),
      }
    case 'superseded':
    case 'conflict':
      return {
        ...rest,
        state: 'retry',
        since: now,
        due: now + CONFLICT_BACKOFF.baseMs + backoffDelay(CONFLICT_BACKOFF, row.attempt, random),
      }
    case 'parked':
    case 'refused': {
      const delay = outcome.result === 'refused' ? REFUSED_DELAY_MS : parkedDelay(row.attempt, random, waiting())
      return {
        ...rest,
        state: 'parked',
        // When it began to wait, not when it was last tried.
        since: row.reason === undefined ? now : row.since,
        due: now + delay,
        ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
        ...(outcome.message === undefined ? {} : { message: outcome.message }),
      }
    }
  }
}

/** Half of the backoff is fixed, so that a first retry is never at once. */
function parkedDelay(attempt: number, random: () => number, waiting: number): number {
  const { leastMs, mostMs, perWaitingMs } = PARKED_CAP
  const backoff = { baseMs: PARKED_BASE_MS, capMs: Math.min(mostMs, Math.max(leastMs, waiting * perWaitingMs)) }
  return backoffDelay(backoff, attempt, () => 0.5) + backoffDelay(backoff, attempt, random) / 2
}
