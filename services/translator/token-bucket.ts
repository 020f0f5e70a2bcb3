/** Bounds how often something is done: a number at once, and as many more as time has brought. */
export class TokenBucket {
  readonly #perSecond: number
  readonly #size: number
  #tokens: number
  #filledAt: number

  /** @param options.now milliseconds; the bucket is full then */
  constructor(options: { perSecond: number; size: number; now: number }) {
    this.#perSecond = options.perSecond
    this.#size = options.size
    this.#tokens = options.size
    this.#filledAt = options.now
  }

  /**
   * Takes a token, if there is one.
   * @param left how many must be left over for others
   */
  take(now: number, left = 0): boolean {
    const brought = (Math.max(now - this.#filledAt, 0) / 1_000) * this.#perSecond
    this.#tokens = Math.min(this.#size, this.#tokens + brought)
    this.#filledAt = now
    if (this.#tokens < left + 1) return false
    this.#tokens -= 1
    return true
  }
}
