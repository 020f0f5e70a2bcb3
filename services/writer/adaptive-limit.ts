/** How one call went, as far as the limit is concerned. */
export type CallSample = {
  /** `answered`: the server answered, whatever it said; `overloaded`: it asked for less (429); `failed`: no answer, or 5xx. */
  result: 'answered' | 'overloaded' | 'failed'
  ms: number
  /** What the server asked to wait. */
  retryAfterMs?: number | undefined
}

export type LimitOptions = {
  /** @default 16 */
  start?: number
  /** @default 4 */
  min?: number
  /** @default 64 */
  max?: number
}

/** Longest pause that a server can impose at once, in milliseconds. */
const MAX_PAUSE_MS = 30_000
/** Latency must be this many times the usual one, and at least `SLOW_MS`, to count as congestion. */
const SLOW_FACTOR = 4
const SLOW_MS = 200

/**
 * How many calls to one API server may be under way: additive increase while it is used up and answers come quickly,
 * multiplicative decrease when the server says 429, fails, or becomes slow. One decrease per round trip: calls that
 * were under way together tell of the same congestion.
 */
export class AdaptiveLimit {
  readonly #min: number
  readonly #max: number
  #limit: number
  #inFlight = 0
  #usualMs: number | undefined
  #recentMs = 0
  #holdUntil = 0
  #pausedUntil = 0

  constructor(options: LimitOptions = {}) {
    this.#min = options.min ?? 4
    this.#max = options.max ?? 64
    this.#limit = Math.min(this.#max, Math.max(this.#min, options.start ?? 16))
  }

  get limit(): number {
    return Math.floor(this.#limit)
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** How long no call may start, in milliseconds from `now`. */
  pauseMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now)
  }

  /** Whether another call may start. */
  hasRoom(now: number): boolean {
    return this.#inFlight < this.limit && now >= this.#pausedUntil
  }

  /** Takes a place, if there is one. */
  tryAcquire(now: number): boolean {
    if (!this.hasRoom(now)) return false
    this.#inFlight += 1
    return true
  }

  /** Gives the place back without having called. */
  cancel(): void {
    this.#inFlight -= 1
  }

  /**
   * Gives the place back.
   * @param demand whether calls wait for a place: a tenant that has all of its share held back by the limit leaves the
   * rest of it free
   */
  release(sample: CallSample, now: number, demand: { othersWait: boolean } = { othersWait: false }): void {
    const wasUsedUp = demand.othersWait || this.#inFlight >= this.limit * 0.8
    this.#inFlight -= 1
    switch (sample.result) {
      case 'overloaded':
        this.#pausedUntil = Math.max(this.#pausedUntil, now + Math.min(MAX_PAUSE_MS, sample.retryAfterMs ?? 0))
        this.#decrease(0.5, now)
        return
      case 'failed':
        this.#decrease(0.7, now)
        return
      case 'answered':
        this.#learn(sample.ms)
        if (this.#isSlow()) this.#decrease(0.9, now)
        else if (wasUsedUp) this.#limit = Math.min(this.#max, this.#limit + 1 / this.#limit)
    }
  }

  #learn(ms: number): void {
    this.#usualMs ??= ms
    // Follows down at once and up slowly: a server that is slow for good is not congested for ever.
    this.#usualMs += (ms - this.#usualMs) * (ms < this.#usualMs ? 0.2 : 0.005)
    this.#recentMs += (ms - this.#recentMs) * 0.2
  }

  #isSlow(): boolean {
    return this.#recentMs > SLOW_MS && this.#recentMs > SLOW_FACTOR * (this.#usualMs ?? 0)
  }

  #decrease(factor: number, now: number): void {
    if (now < this.#holdUntil) return
    this.#limit = Math.max(this.#min, this.#limit * factor)
    this.#holdUntil = now + Math.max(100, this.#recentMs)
  }
}
