import type { StoredEvent } from './stored-object.ts'

/** The recent changes of a cluster in order; older ones are compacted away. */
export class History {
  #events: StoredEvent[] = []
  #start = 0
  #floor: number

  /** @param floor newest revision that watches can no longer start from, because later events may be missing */
  constructor(floor: number) {
    this.#floor = floor
  }

  get floor(): number {
    return this.#floor
  }

  get length(): number {
    return this.#events.length - this.#start
  }

  append(event: StoredEvent): void {
    this.#events.push(event)
  }

  /** Events after `revision`, oldest first; `undefined` when some of them are gone. */
  since(revision: number): Iterable<StoredEvent> | undefined {
    if (revision < this.#floor) return undefined
    return this.#from(this.#firstAfter(revision))
  }

  /** Events after `revision`, newest first. */
  *backTo(revision: number): Generator<StoredEvent> {
    for (let index = this.#events.length - 1; index >= this.#start; index--) {
      const event = this.#events[index]
      if (event === undefined || event.revision <= revision) return
      yield event
    }
  }

  /** Removes and returns all but the newest `keep` events. */
  shift(keep: number): StoredEvent[] {
    const count = Math.max(0, this.length - keep)
    const gone = this.#events.slice(this.#start, this.#start + count)
    this.#start += count
    if (this.#start > 4096 && this.#start * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#start)
      this.#start = 0
    }
    const last = gone.at(-1)
    if (last !== undefined) this.#floor = last.revision
    return gone
  }

  *#from(index: number): Generator<StoredEvent> {
    // Positions shift when the history is compacted between two steps, so the end is fixed at the first one.
    yield* this.#events.slice(index)
  }

  #firstAfter(revision: number): number {
    let low = this.#start
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#events[middle]?.revision ?? 0) <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}
