import type { Clock } from '#libs/kernel'

/** After a change of a definition: when its kind may be served, and when it surely is. */
const SOON_MS = 100
const SURE_MS = 2_000

/**
 * Wakes the watches of custom resources when the definitions of their cluster change: one that backs off since its kind
 * is not served need not wait out its delay.
 */
export class DefinitionNews {
  #news = new AbortController()
  #soon: NodeJS.Timeout | undefined
  #sure: NodeJS.Timeout | undefined

  /** Notes that a definition has changed. Changes that come together wake together. */
  announce(): void {
    if (this.#soon === undefined) {
      this.#soon = setTimeout(() => {
        this.#soon = undefined
        this.#wake()
      }, SOON_MS).unref()
    }
    clearTimeout(this.#sure)
    this.#sure = setTimeout(() => this.#wake(), SURE_MS).unref()
  }

  #wake(): void {
    this.#news.abort()
    this.#news = new AbortController()
  }

  /** The same clock, but that it sleeps no longer than until there are news. */
  clock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      sleep: async (ms, signal) => {
        const signals = signal === undefined ? [this.#news.signal] : [this.#news.signal, signal]
        try {
          await clock.sleep(ms, AbortSignal.any(signals))
        } catch {
          signal?.throwIfAborted()
        }
      },
    }
  }
}
