/** What waits to be published, as far as it decides on what may take its place. */
export type Queued = { subject: string; uid: string; isDeletion: boolean }

/**
 * A queue in which a newer state of an object takes the place of one that waits. A deletion is never replaced, save by
 * the same again: that one object was deleted and another took its name are two facts.
 */
export class CoalescingQueue<T extends Queued> {
  readonly #merge: (older: T, newer: T) => T
  readonly #items = new Map<number, T>()
  /** Number of the last item of each subject. */
  readonly #last = new Map<string, number>()
  #lastNumber = 0

  /** @param merge makes one item, with the state of the newer, that stands for both */
  constructor(merge: (older: T, newer: T) => T) {
    this.#merge = merge
  }

  get size(): number {
    return this.#items.size
  }

  push(item: T): void {
    const number = this.#last.get(item.subject)
    const older = number === undefined ? undefined : this.#items.get(number)
    if (number !== undefined && older !== undefined && replaces(older, item)) {
      this.#items.set(number, this.#merge(older, item))
      return
    }
    this.#lastNumber++
    this.#items.set(this.#lastNumber, item)
    this.#last.set(item.subject, this.#lastNumber)
  }

  /** Takes what has waited longest. */
  shift(): T | undefined {
    for (const [number, item] of this.#items) {
      this.#items.delete(number)
      if (this.#last.get(item.subject) === number) this.#last.delete(item.subject)
      return item
    }
    return undefined
  }
}

function replaces(older: Queued, newer: Queued): boolean {
  return older.uid === newer.uid && (!older.isDeletion || newer.isDeletion)
}
