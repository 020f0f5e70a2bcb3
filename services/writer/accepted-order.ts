import { forgetOldest } from '#libs/kernel'

/** Where an intent stands among those for its target: the translator's lease, then the change that led to it. */
export type OrderMark = { fence: number; causeSeq: number }

/**
 * Remembers, per target, the highest (fence, cause sequence) that was accepted, so that what a translator sends that has
 * lost its partition cannot undo what its successor decided. Holds the targets used last; one that is forgotten accepts
 * anything again, and the next decision about it puts right what that may spoil.
 */
export class AcceptedOrder {
  readonly #marks = new Map<string, OrderMark>()
  readonly #capacity: number

  /** @param capacity how many targets are remembered */
  constructor(capacity = 10_000) {
    this.#capacity = capacity
  }

  /** Accepts the mark, or answers false when a later one was accepted for this target before. */
  accept(target: string, mark: OrderMark): boolean {
    const last = this.#marks.get(target)
    if (last !== undefined && isBefore(mark, last)) return false
    this.#marks.delete(target)
    this.#marks.set(target, { fence: mark.fence, causeSeq: mark.causeSeq })
    forgetOldest(this.#marks, this.#capacity)
    return true
  }
}

function isBefore(a: OrderMark, b: OrderMark): boolean {
  return a.fence < b.fence || (a.fence === b.fence && a.causeSeq < b.causeSeq)
}
