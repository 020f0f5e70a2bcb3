import { forgetOldest } from '#libs/kernel'

/** So often the same write is made without delay, as when somebody changes a value there and back. */
const FREE = 10
const DELAY = { baseMs: 250, capMs: 60_000 }
/** After this long, or four times its delay, a write that was not asked for again counts as the first. */
const FORGET_MS = 10_000
/** Writes that are remembered. Those of a fight are asked for all the time and stay among them. */
const REMEMBERED = 2_000

type Repeats = { count: number; lastAt: number }

/**
 * Slows down a write that is made, seen and undone by somebody else, again and again: a controller that knows better
 * would otherwise be fought as fast as both sides can. Remembers in memory only: after a restart a fight is fast once
 * more for its first rounds.
 */
export class RepeatBrake {
  readonly #repeats = new Map<string, Repeats>()

  /**
   * Asks for a write, by what identifies it and its content.
   * @returns how long to wait before it is asked for again, in milliseconds; 0 when it may be made, which is noted
   */
  ask(write: string, now: number): number {
    const found = this.#repeats.get(write)
    const isForgotten = found === undefined || now - found.lastAt > Math.max(FORGET_MS, 4 * delayAfter(found.count))
    if (!isForgotten) {
      const left = found.lastAt + delayAfter(found.count) - now
      if (left > 0) return left
    }
    // The one asked for last comes last, so that the first is the one to forget.
    this.#repeats.delete(write)
    this.#repeats.set(write, { count: isForgotten ? 1 : found.count + 1, lastAt: now })
    forgetOldest(this.#repeats, REMEMBERED)
    return 0
  }
}

function delayAfter(count: number): number {
  return count < FREE ? 0 : Math.min(DELAY.capMs, DELAY.baseMs * 2 ** (count - FREE))
}
