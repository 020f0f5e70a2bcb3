/** Lets steps run one at a time, in the order in which they came. The first that fails is the last. */
export class Turns {
  readonly #onFailure: (error: unknown) => void
  #last: Promise<void> = Promise.resolve()
  #closed = false

  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure
  }

  /** Resolves when the step has run, or was left out since the turns are over. Never rejects. */
  take(step: () => Promise<void> | void): Promise<void> {
    this.#last = this.#last.then(async () => {
      if (this.#closed) return
      try {
        await step()
      } catch (error) {
        this.#closed = true
        this.#onFailure(error)
      }
    })
    return this.#last
  }

  /** Begins no further step; resolves when the one that is running has ended. */
  close(): Promise<void> {
    this.#closed = true
    return this.#last
  }
}
