import type { StreamName } from '#libs/events'
import { Batch } from './batch.ts'

/**
 * The time from taking a partition until all is folded in that was in the log then. Nothing is decided before: the owner
 * before may have decided from all of it, and a decision from less, under the newer fence, would take a write of its
 * back. What was touched meanwhile is decided about first when it is over.
 */
export class Takeover {
  /** Of the streams that are behind: the sequence to be reached. */
  readonly #ends: Map<StreamName, number>
  readonly #touched = new Batch()
  #queue: ReturnType<Batch['inOrder']> | undefined

  /** @param streams to be read before it is over */
  constructor(streams: readonly StreamName[]) {
    this.#ends = new Map(streams.map((stream) => [stream, Number.POSITIVE_INFINITY]))
  }

  get isOver(): boolean {
    return this.#ends.size === 0
  }

  /** Whether nothing is left to be decided about. */
  get isEmpty(): boolean {
    return this.#queue === undefined ? this.#touched.isEmpty : this.#queue.length === 0
  }

  /** Says where a stream ended when the partition was taken. */
  endsAt(stream: StreamName, seq: number): void {
    this.#ends.set(stream, seq)
  }

  /**
   * Says up to where a stream is folded in; Infinity for all there is.
   * @returns whether that has ended it
   */
  reached(stream: StreamName, seq: number): boolean {
    if (seq < (this.#ends.get(stream) ?? Number.POSITIVE_INFINITY)) return false
    return this.#ends.delete(stream) && this.isOver
  }

  /** Notes what a batch has touched. */
  keep(batch: Batch): void {
    for (const { key, cause } of batch.inOrder()) this.#touched.add([key], cause)
  }

  /** The next of what was noted, at most `limit`, once it is over. */
  take(limit: number): ReturnType<Batch['inOrder']> {
    if (!this.isOver) return []
    this.#queue ??= this.#touched.inOrder()
    return this.#queue.splice(0, limit)
  }
}
