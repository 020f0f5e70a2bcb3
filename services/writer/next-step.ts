import { backoffDelay } from '#libs/kernel'
import { type Attempt, type Settled, parked } from './result.ts'

/** Full jitter between nothing and these bounds. */
const BACKOFF = { baseMs: 200, capMs: 10_000 }

export type RetryState = {
  /** When the first attempt began, ms since the epoch. */
  startedAt: number
  /** Attempts that failed, this one included. */
  failures: number
}

export type NextStep = { settle: Settled } | { retryInMs: number }

/**
 * What follows from an attempt: it is settled, or tried again as long as its time lasts. A write to a server that is
 * known to be down is not tried again.
 */
export function nextStep(
  attempt: Attempt,
  state: RetryState,
  context: { now: number; deadlineMs: number; isDown: boolean; random: () => number },
): NextStep {
  if (attempt.result !== 'retry') return { settle: attempt }
  const jittered = backoffDelay(BACKOFF, state.failures - 1, context.random)
  const delayMs = Math.max(jittered, attempt.retryAfterMs ?? 0)
  const isOver = context.now + delayMs > state.startedAt + context.deadlineMs
  if (context.isDown || isOver) return { settle: parked('ApiUnavailable', attempt.message) }
  return { retryInMs: delayMs }
}
