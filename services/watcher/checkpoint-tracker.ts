/** Stands for one event until it is safe in the log. */
export type Ticket = {
  /** The event is safe. A second call does nothing. */
  settle(): void
}

type Entry = { resourceVersion: string | undefined; settled: boolean }

/**
 * Tells from where a watch may resume when events become safe out of order: after the last one before which, and
 * including which, everything is safe.
 */
export class CheckpointTracker {
  #entries: Entry[] = []
  #head = 0
  #safe: string | undefined
  #waiters: (() => void)[] = []

  /** resourceVersion to resume from; undefined until there is one. */
  get safe(): string | undefined {
    return this.#safe
  }

  /** Events that are not safe yet, or come after one that is not. */
  get pending(): number {
    return this.#entries.length - this.#head
  }

  /** Enters the next event. @param resourceVersion undefined when it is no place to resume from, as within a list */
  begin(resourceVersion: string | undefined): Ticket {
    const entry: Entry = { resourceVersion, settled: false }
    this.#entries.push(entry)
    return {
      settle: () => {
        if (entry.settled) return
        entry.settled = true
        if (this.#entries[this.#head] === entry) this.#advance()
      },
    }
  }

  /** Resolves when every event entered so far, and meanwhile, is safe. Never, if one cannot be made safe. */
  async idle(): Promise<void> {
    while (this.pending > 0) await new Promise<void>((resolve) => this.#waiters.push(resolve))
  }

  #advance(): void {
    for (let entry = this.#entries[this.#head]; entry?.settled === true; entry = this.#entries[this.#head]) {
      this.#safe = entry.resourceVersion ?? this.#safe
      this.#head++
    }
    if (this.#head > 1024 && this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head)
      this.#head = 0
    }
    if (this.pending === 0) for (const wake of this.#waiters.splice(0)) wake()
  }
}
