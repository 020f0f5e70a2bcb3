import { type Bus, type Gap, type OrderedReader, readOrdered } from '#libs/bus'
import { type LogMessage, STREAMS, type StreamName, partitionFilters } from '#libs/events'

export type FollowedStreamOptions = {
  bus: Bus
  stream: StreamName
  partition: number
  /** Sequence up to which the stream is taken in already. */
  position: number
  /**
   * Whether what is taken in was read from STATE just now. STATE holds the last of everything, so messages that the
   * history has dropped before the first is read are not missed.
   */
  isFresh: boolean
  signal: AbortSignal
  /** Takes messages in; the next come when it resolves. */
  take: (messages: LogMessage[]) => Promise<void>
  /** Told of messages that are missed. */
  onMissed: (gap: Gap) => void
  onInterruption: (reason: string) => void
}

/** One stream of the log as a partition follows it. */
export class FollowedStream {
  readonly stream: StreamName
  /** Resolves when the signal has aborted; rejects when the stream cannot be read. */
  readonly done: Promise<void>
  readonly #reader: OrderedReader
  #taken: number
  #isStarting: boolean

  constructor(options: FollowedStreamOptions) {
    const { bus, stream, partition, position, signal, onInterruption } = options
    this.stream = stream
    this.#taken = position
    this.#isStarting = options.isFresh
    this.#reader = readOrdered(bus, {
      stream,
      filterSubjects: partitionFilters(stream === STREAMS.changes ? 'change' : 'outcome', partition),
      startSeq: position + 1,
      signal,
      onGap: (gap) => {
        if (this.#isStarting) this.#taken = gap.resumeAt - 1
        else options.onMissed(gap)
      },
      onInterruption,
    })
    void this.caughtUp.then(() => {
      this.#isStarting = false
    })
    this.done = this.#follow(options.take)
  }

  /** Resolves the first time that everything in the stream has been taken in. */
  get caughtUp(): Promise<void> {
    return this.#reader.caughtUp
  }

  /** Messages that are not taken in yet; Infinity before the first answer. */
  get pending(): number {
    return this.#reader.pending
  }

  /**
   * Up to which sequence nothing of this partition is left: while its subjects are quiet the stream goes on, and drops
   * what is old. To be used only if `isTaken` still holds then.
   */
  async quietUntil(): Promise<number | undefined> {
    const before = this.#taken
    const end = await this.#reader.position()
    return end > before && this.isTaken(before) ? end : undefined
  }

  /** Whether everything that was handed out has been taken in, and that was up to `position`. */
  isTaken(position: number): boolean {
    return this.#taken === position && this.#reader.lastSeq <= position
  }

  /** Notes that nothing is left up to here. */
  moveTo(position: number): void {
    this.#taken = position
  }

  get position(): number {
    return this.#taken
  }

  async #follow(take: FollowedStreamOptions['take']): Promise<void> {
    for await (const messages of this.#reader) {
      await take(messages)
      this.#isStarting = false
      this.#taken = messages.at(-1)?.seq ?? this.#taken
    }
  }
}
