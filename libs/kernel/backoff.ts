/** Shape of an exponential backoff. */
export type BackoffOptions = {
  /** Delay of the first retry, in milliseconds. */
  baseMs: number
  /** No delay is longer. */
  capMs: number
  /** Growth per attempt. @default 2 */
  factor?: number
}

/**
 * Delay before retry number `attempt` (0 is the first), with full jitter: uniform in [0, capped exponential]. Full
 * jitter spreads clients that failed together best.
 * @param random a number in [0, 1)
 */
export function backoffDelay(options: BackoffOptions, attempt: number, random: () => number): number {
  const ceiling = Math.min(options.capMs, options.baseMs * (options.factor ?? 2) ** attempt)
  return ceiling * random()
}
