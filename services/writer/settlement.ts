/** Where a restart goes on. */
export type ResumePoint = {
  /** Everything up to this sequence of INTENTS is settled. */
  seq: number
  /** Outcomes of later intents that are settled nevertheless come after this sequence of OUTCOMES. */
  outcomeSeq: number
}

type Open = { settled: boolean; outcomeMark: number }

/**
 * Which intents are settled: the resume point is below the lowest that is not. Intents are taken in in the order of the
 * log and settle in any order.
 */
export class Settlement {
  /** From the lowest unsettled intent on, in order of sequence. */
  readonly #open = new Map<number, Open>()
  #lastSeq: number
  #lastOutcomeSeq: number

  constructor(from: ResumePoint) {
    this.#lastSeq = from.seq
    this.#lastOutcomeSeq = from.outcomeSeq
  }

  /** How many intents are held, from the lowest unsettled one on. */
  get size(): number {
    return this.#open.size
  }

  /** An intent was taken in. */
  open(seq: number): void {
    this.#open.set(seq, { settled: false, outcomeMark: this.#lastOutcomeSeq })
    this.#lastSeq = seq
  }

  /**
   * An intent is settled, its outcome stored.
   * @param outcomeSeq sequence of the outcome, when this settlement wrote one
   */
  settle(seq: number, outcomeSeq?: number): void {
    const entry = this.#open.get(seq)
    if (entry === undefined) return
    entry.settled = true
    if (outcomeSeq !== undefined && outcomeSeq > this.#lastOutcomeSeq) this.#lastOutcomeSeq = outcomeSeq
    for (const [lowest, state] of this.#open) {
      if (!state.settled) break
      this.#open.delete(lowest)
    }
  }

  /** Where a restart would go on. */
  resumePoint(): ResumePoint {
    for (const [seq, state] of this.#open) return { seq: seq - 1, outcomeSeq: state.outcomeMark }
    return { seq: this.#lastSeq, outcomeSeq: this.#lastOutcomeSeq }
  }
}
