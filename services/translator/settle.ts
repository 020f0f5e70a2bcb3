import type { Outcome } from '#libs/events'
import { backoffDelay } from '#libs/kernel'
import type { Pending } from '#libs/projection'
import { ECHO_LIMIT_MS } from './plan.ts'

const CONFLICT_BACKOFF = { baseMs: 20, capMs: 5_000 }
const PARKED_BACKOFF = { baseMs: 2_000, capMs: 60_000 }

/** What forbids a write forbids it the next second as well: only an operator or a new version changes that. */
const REFUSED_DELAY_MS = 600_000

/**
 * What is remembered about a write once its outcome is in.
 * @param random a number in [0, 1)
 * @returns `undefined` when the outcome is not of the write that the row is about
 */
export function settle(
  row: Pending | undefined,
  outcome: Outcome,
  clock: { now: number; random: () => number },
): Pending | undefined {
  if (row === undefined || row.intentId !== outcome.intentId) return undefined
  const { reason: _reason, message: _message, due: _due, resultVersion: _version, ...rest } = row
  const { now, random } = clock
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
      const delay = outcome.result === 'refused' ? REFUSED_DELAY_MS : parkedDelay(row.attempt, random)
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
function parkedDelay(attempt: number, random: () => number): number {
  return backoffDelay(PARKED_BACKOFF, attempt, () => 0.5) + backoffDelay(PARKED_BACKOFF, attempt, random) / 2
}
