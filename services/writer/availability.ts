const FIRST_WAIT_MS = 1_000
/** Short, since nothing else tells that a server is back: it costs one call. */
const LONGEST_WAIT_MS = 5_000

/**
 * Whether an API server can be reached at all. Once a write has used up its time and the server answered nothing else
 * meanwhile, it counts as down: further writes are turned away at once, so that they neither wait nor pile up, except
 * one now and then that finds out whether it is back.
 */
export class Availability {
  #lastAnswerAt = Number.NEGATIVE_INFINITY
  #down: { message: string; waitMs: number; nextProbeAt: number } | undefined

  get isDown(): boolean {
    return this.#down !== undefined
  }

  /** Why a write is turned away now; undefined when it may try. */
  objection(now: number): string | undefined {
    if (this.#down === undefined) return undefined
    if (now < this.#down.nextProbeAt) return this.#down.message
    // This one finds out; those that come before it knows are turned away.
    this.#down.nextProbeAt = now + this.#down.waitMs
    return undefined
  }

  /** The server answered. */
  answered(now: number): void {
    this.#lastAnswerAt = now
    this.#down = undefined
  }

  /** A write that was first tried at `since` has got no answer in all its time. */
  gaveUp(since: number, at: { now: number; message: string }): void {
    if (this.#lastAnswerAt >= since) return
    const waitMs = Math.min(LONGEST_WAIT_MS, this.#down === undefined ? FIRST_WAIT_MS : this.#down.waitMs * 2)
    this.#down = { message: at.message, waitMs, nextProbeAt: at.now + waitMs }
  }
}
