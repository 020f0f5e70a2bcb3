import type { Clock } from '#libs/kernel'

/** How long a step may take to come to its end when the work is to stop. */
const DRAIN_MS = 2_000

/** The span of the work on a partition: how it fails, what ends its reading, and what breaks off a step that waits. */
export class Lifespan {
  readonly #options: { clock: Clock; signal: AbortSignal }
  readonly #failure = Promise.withResolvers<never>()
  readonly #over = Promise.withResolvers<undefined>()
  readonly #ended = new AbortController()
  readonly #interrupted = new AbortController()

  constructor(options: { clock: Clock; signal: AbortSignal }) {
    this.#options = options
    this.#failure.promise.catch(() => undefined)
  }

  /** Resolves when the work has ended, for whatever reason. */
  get over(): Promise<undefined> {
    return this.#over.promise
  }

  /** Ends the reading, when the work is to end or has ended. */
  get reading(): AbortSignal {
    return AbortSignal.any([this.#options.signal, this.#ended.signal])
  }

  /** Breaks off a step that waits. */
  get interrupted(): AbortSignal {
    return this.#interrupted.signal
  }

  /** Ends the work with an error. */
  fail(error: unknown): void {
    this.#failure.reject(error)
  }

  /**
   * Goes through the steps of the work.
   * @param steps ends early through `until` when something fails
   * @param onEnd called before whoever waits is told that it is over
   */
  async live(steps: (until: <T>(step: Promise<T>) => Promise<T>) => Promise<void>, onEnd: () => void): Promise<void> {
    const { signal, clock } = this.#options
    const onAbort = (): void => {
      void clock.sleep(DRAIN_MS, this.#interrupted.signal).then(
        () => this.#interrupted.abort(signal.reason),
        () => undefined,
      )
    }
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    try {
      await steps((step) => Promise.race([step, this.#failure.promise]))
    } finally {
      signal.removeEventListener('abort', onAbort)
      onEnd()
      this.#ended.abort(new Error('the work on the partition has ended'))
      this.#interrupted.abort(this.#ended.signal.reason)
      this.#over.resolve(undefined)
    }
  }
}
