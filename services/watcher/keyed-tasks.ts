/** Runs tasks in parallel, those of one key one after the other. */
export class KeyedTasks {
  readonly #limit: number
  readonly #tails = new Map<string, Promise<void>>()

  /** @param limit how many keys may have tasks before `room` holds its caller */
  constructor(limit: number) {
    this.#limit = limit
  }

  isBusy(key: string): boolean {
    return this.#tails.has(key)
  }

  /** Runs a task after those of its key. The promise is the task's. */
  run(key: string, task: () => Promise<void>): Promise<void> {
    const done = (this.#tails.get(key) ?? Promise.resolve()).then(task)
    const tail = done
      .catch(() => undefined)
      .then(() => {
        if (this.#tails.get(key) === tail) this.#tails.delete(key)
      })
    this.#tails.set(key, tail)
    return done
  }

  /** Resolves when fewer keys than the limit have tasks. */
  async room(): Promise<void> {
    while (this.#tails.size >= this.#limit) await Promise.race(this.#tails.values())
  }

  /** Resolves when nothing is left to do. */
  async idle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.all(this.#tails.values())
  }
}
