import type { Clock } from '#libs/kernel'

/** Reasons of their own: the one that is made by default holds a stack, which costs more than the whole alarm. */
const EARLIER = new Error('the alarm is set to an earlier time')
const CLOSED = new Error('the alarm is closed')

/** Wakes its owner at the earliest time that was asked for. */
export class Alarm {
  readonly #clock: Clock
  readonly #ring: () => Promise<void>
  #at: number | undefined
  #sleeping: AbortController | undefined
  #closed = false

  /** @param ring called at the time; an error of its own making is its own to report */
  constructor(clock: Clock, ring: () => Promise<void>) {
    this.#clock = clock
    this.#ring = ring
  }

  /** Asks to be woken at `at` (ms since the epoch), or earlier if that was asked for already. */
  set(at: number): void {
    if (this.#closed || (this.#at !== undefined && this.#at <= at)) return
    this.#at = at
    this.#sleeping?.abort(EARLIER)
    const sleeping = new AbortController()
    this.#sleeping = sleeping
    this.#clock
      .sleep(Math.max(0, at - this.#clock.now()), sleeping.signal)
      .then(
        () => {
          // Woken in the same moment in which an earlier time was asked for: that one rings.
          if (this.#sleeping !== sleeping) return undefined
          this.#at = undefined
          this.#sleeping = undefined
          return this.#ring()
        },
        () => undefined,
      )
      .catch(() => undefined)
  }

  close(): void {
    this.#closed = true
    this.#sleeping?.abort(CLOSED)
    this.#sleeping = undefined
  }
}
