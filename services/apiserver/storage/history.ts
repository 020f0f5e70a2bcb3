import type { StoredEvent } from './stored-object.ts'

/** The recent changes of a cluster in order; older ones are compacted away. */
export class History {
  #events: StoredEvent[] = []
  #floor: number
  #size = 0

  /** @param floor newest revision that watches can no longer start from, because later events may be missing */
  constructor(floor: number) {
    this.#floor = floor
  }

  get floor(): number {
    return this.#floor
  }

  get length(): number {
    return this.#events.length
  }

  /** Characters of JSON in all events together. An event's earlier version is another event's, and counts there. */
  get size(): number {
    return this.#size
  }

  append(event: StoredEvent): void {
    this.#events.push(event)
    this.#size += event.current.json.length
  }

  /** How many of the newest events have at most this size together. */
  fitting(size: number): number {
    let rest = this.#size
    let index = 0
    while (rest > size && index < this.#events.length) rest -= this.#events[index++]?.current.json.length ?? 0
    return this.#events.length - index
  }

  /** Events after `revision`, oldest first; `undefined` when some of them are gone. */
  since(revision: number): Iterable<StoredEvent> | undefined {
    if (revision < this.#floor) return undefined
    return this.#from(this.#firstAfter(revision))
  }

  /** Events after `revision`, newest first. */
  *backTo(revision: number): Generator<StoredEvent> {
    for (let index = this.#events.length - 1; index >= 0; index--) {
      const event = this.#events[index]
      if (event === undefined || event.revision <= revision) return
      yield event
    }
  }

  /** Removes and returns all but the newest `keep` events. */
  shift(keep: number): StoredEvent[] {
    const gone = this.#events.slice(0, Math.max(0, this.length - keep))
    // An array of its own, as what is gone would otherwise be held until its places are needed.
    this.#events = this.#events.slice(gone.length)
    for (const event of gone) this.#size -= event.current.json.length
    const last = gone.at(-1)
    if (last !== undefined) this.#floor = last.revision
    return gone
  }

  *#from(index: number): Generator<StoredEvent> {
    // Positions shift when the history is compacted between two steps, so the end is fixed at the first one.
    yield* this.#events.slice(index)
  }

  #firstAfter(revision: number): number {
    let low = 0
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#events[middle]?.revision ?? 0) <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}
