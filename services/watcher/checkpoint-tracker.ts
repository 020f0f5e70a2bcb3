/** Stands for one event until it is safe in the log. */
export type Ticket = {
  /** The event is safe. A second call does nothing. */
  settle(): void
}

type Entry = {
  resourceVersion: string | undefined
  settled: boolean
  before: Entry | undefined
  after: Entry | undefined
}

/**
 * Tells from where a watch may resume when events become safe out of order: after the last one before which, and
 * including which, everything is safe. It holds what is not safe, and of what is safe in between, the last.
 */
export class CheckpointTracker {
  #first: Entry | undefined
  #last: Entry | undefined
  #size = 0
  #safe: string | undefined
  #waiters: (() => void)[] = []

  /** resourceVersion to resume from; undefined until there is one. */
  get safe(): string | undefined {
    return this.#safe
  }

  /** What is remembered: events that are not safe, and places between them to resume from. */
  get pending(): number {
    return this.#size
  }

  /** Enters the next event. @param resourceVersion undefined when it is no place to resume from, as within a list */
  begin(resourceVersion: string | undefined): Ticket {
    const entry: Entry = { resourceVersion, settled: false, before: this.#last, after: undefined }
    if (this.#last === undefined) this.#first = entry
    else this.#last.after = entry
    this.#last = entry
    this.#size++
    return {
      settle: () => {
        if (entry.settled) return
        entry.settled = true
        this.#onSettled(entry)
      },
    }
  }

  /** Resolves when every event entered so far, and meanwhile, is safe. Never, if one cannot be made safe. */
  async idle(): Promise<void> {
    while (this.#size > 0) await new Promise<void>((resolve) => this.#waiters.push(resolve))
  }

  #onSettled(entry: Entry): void {
    const { before, after } = entry
    // Where one may resume after the later, that is where one will.
    if (after?.settled === true) {
      after.resourceVersion ??= entry.resourceVersion
      this.#remove(entry)
    }
    const rest = after?.settled === true ? after : entry
    if (before?.settled === true) {
      rest.resourceVersion ??= before.resourceVersion
      this.#remove(before)
    }
    if (this.#first !== rest) return
    this.#safe = rest.resourceVersion ?? this.#safe
    this.#remove(rest)
    if (this.#size === 0) for (const wake of this.#waiters.splice(0)) wake()
  }

  #remove({ before, after }: Entry): void {
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    this.#size--
  }
}
