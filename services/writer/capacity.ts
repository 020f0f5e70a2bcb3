/** A bound on what is held in memory, with a way to wait for room. */
export class Capacity {
  readonly #max: number
  #used = 0
  #waiters: (() => void)[] = []

  constructor(max: number) {
    this.#max = max
  }

  get used(): number {
    return this.#used
  }

  get isUsedUp(): boolean {
    return this.#used >= this.#max
  }

  take(): void {
    this.#used += 1
  }

  give(): void {
    this.#used -= 1
    for (const resume of this.#waiters.splice(0)) resume()
  }

  /** Resolves when there is room, or the signal aborts. */
  async room(signal: AbortSignal): Promise<void> {
    while (this.isUsedUp && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const onAbort = (): void => resolve()
      this.#waiters.push(resolve)
      signal.addEventListener('abort', onAbort, { once: true })
      await promise
      signal.removeEventListener('abort', onAbort)
    }
  }
}
