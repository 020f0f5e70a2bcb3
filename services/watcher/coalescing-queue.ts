/** What waits to be published, as far as it decides on what may take its place. */
export type Queued = { subject: string; uid: string; isDeletion: boolean }

/**
 * A queue in which a newer state of an object takes the place of one that waits. A deletion is never replaced, save by
 * the same again: that one object was deleted and another took its name are two facts. Objects take turns; what is of
 * one name stays in order.
 */
export class CoalescingQueue<T extends Queued> {
  readonly #merge: (older: T, newer: T) => T
  readonly #items = new Map<string, T[]>()
  /** Subjects in the order of their turns, without those that are held. */
  readonly #turns = new Set<string>()
  #size = 0

  /** @param merge makes one item, with the state of the newer, that stands for both */
  constructor(merge: (older: T, newer: T) => T) {
    this.#merge = merge
  }

  get size(): number {
    return this.#size
  }

  push(item: T): void {
    const waiting = this.#items.get(item.subject)
    const last = waiting?.at(-1)
    if (waiting !== undefined && last !== undefined && replaces(last, item)) {
      waiting[waiting.length - 1] = this.#merge(last, item)
      return
    }
    this.#size++
    if (waiting !== undefined) {
      waiting.push(item)
      return
    }
    this.#items.set(item.subject, [item])
    this.#turns.add(item.subject)
  }

  /**
   * Takes what is next.
   * @param mayGo says of a subject whether it may go; one that may not is held until `release`
   */
  shift(mayGo: (subject: string) => boolean = () => true): T | undefined {
    for (const subject of this.#turns) {
      this.#turns.delete(subject)
      const waiting = this.#items.get(subject)
      if (waiting === undefined || !mayGo(subject)) continue
      const item = waiting.shift()
      if (waiting.length > 0) this.#turns.add(subject)
      else this.#items.delete(subject)
      if (item === undefined) continue
      this.#size--
      return item
    }
    return undefined
  }

  /** A subject may go again. @returns whether anything of it waits */
  release(subject: string): boolean {
    if (!this.#items.has(subject)) return false
    this.#turns.add(subject)
    return true
  }
}

function replaces(older: Queued, newer: Queued): boolean {
  return older.uid === newer.uid && (!older.isDeletion || newer.isDeletion)
}
