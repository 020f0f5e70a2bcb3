import { JetStreamApiError } from '@nats-io/jetstream'
import type { LogMessage } from '#libs/events'
import { type Clock, backoffDelay, errorMessage, systemClock } from '#libs/kernel'
import type { Bus } from './connection.ts'
import { ConsumerSession } from './consumer-session.ts'
import { BusError } from './errors.ts'
import { untilConnected, whileConnected } from './while-connected.ts'

/** Messages that a reader should have had and that are not in the stream. */
export type Gap = {
  /**
   * `truncated`: the stream's limits have removed what came next. `recreated`: it is another stream than the one that was
   * read so far, or it ends before the position and has lost its tail.
   */
  kind: 'truncated' | 'recreated'
  stream: string
  /** First sequence that is missing. */
  from: number
  /** Where reading goes on. */
  resumeAt: number
}

export type ReadOptions = {
  stream: string
  /** Subjects to read; the whole stream when empty. */
  filterSubjects?: readonly string[]
  /** First sequence to read: one past the stored position, 1 for all. */
  startSeq: number
  /** Ends the reading; the iteration then returns. */
  signal?: AbortSignal
  /** How many messages are held ready at most, and so the size of the largest batch. @default 1000 */
  capacity?: number
  /** Told of a gap, after which reading goes on. Without it a gap ends the iteration with a `StreamMismatch` error. */
  onGap?: (gap: Gap) => void
  /** Told why reading was interrupted and is being resumed, for logs and metrics. */
  onInterruption?: (reason: string) => void
  clock?: Clock
}

/**
 * Reads a stream in order, without holes and without acknowledging, through any interruption. Each step of the
 * iteration gives all that is there (at least one message). To be iterated once.
 */
export type OrderedReader = AsyncIterable<LogMessage[]> & {
  /** How many matching messages have not been handed out, as of the last one received; Infinity before the first answer. */
  readonly pending: number
  /** Sequence of the last message handed out; one before the start when there was none. */
  readonly lastSeq: number
  /** Resolves the first time that the reader has handed out all there is and is asked for more. */
  readonly caughtUp: Promise<void>
  /**
   * Up to which sequence all that matches has been handed out: for the position of a reader whose subjects are quiet
   * while the stream moves on. Falls back to `lastSeq`. Costs two requests.
   */
  position(): Promise<number>
}

const defaultCapacity = 1_000
const streamNotFound = 10_059
/** A server that is starting may not know its streams yet. */
const streamMissingPatienceMs = 20_000

export function readOrdered(bus: Bus, options: ReadOptions): OrderedReader {
  return new LogReader(bus, options)
}

class LogReader implements OrderedReader {
  readonly #bus: Bus
  readonly #options: ReadOptions
  readonly #clock: Clock
  readonly #caughtUp = Promise.withResolvers<void>()
  #session: ConsumerSession | undefined
  #lastSeq: number
  /** When the stream was made that was read last: tells it from another of its name. */
  #created: string | undefined
  #pending = Number.POSITIVE_INFINITY

  constructor(bus: Bus, options: ReadOptions) {
    this.#bus = bus
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#lastSeq = Math.max(0, options.startSeq - 1)
  }

  get pending(): number {
    return this.#session?.pending ?? this.#pending
  }

  get lastSeq(): number {
    return this.#lastSeq
  }

  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise
  }

  async position(): Promise<number> {
    const before = this.#lastSeq
    const end = await this.#session?.endWhenIdle().catch(() => undefined)
    return end === undefined || this.#lastSeq !== before ? this.#lastSeq : Math.max(end, before)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LogMessage[], void, void> {
    const { signal } = this.#options
    const stop = (): void => this.#session?.close()
    signal?.addEventListener('abort', stop)
    try {
      while (signal?.aborted !== true) {
        const session = await this.#openSession()
        if (session === undefined) return
        yield* this.#drain(session)
        if (session.ended !== 'closed') this.#options.onInterruption?.(session.ended ?? 'ended')
      }
    } finally {
      signal?.removeEventListener('abort', stop)
      this.#session?.close()
    }
  }

  async *#drain(session: ConsumerSession): AsyncGenerator<LogMessage[], void, void> {
    for (;;) {
      const batch = session.take()
      const last = batch.at(-1)
      if (last !== undefined) {
        this.#lastSeq = last.seq
        yield batch
      } else if (session.ended !== undefined) {
        this.#pending = session.pending
        return
      } else {
        if (session.pending === 0) this.#caughtUp.resolve()
        await session.wait()
      }
      if (this.#options.signal?.aborted === true) return
    }
  }

  /** Opens a session after the last message, however long that takes. Undefined when the signal came first. */
  async #openSession(): Promise<ConsumerSession | undefined> {
    const { signal, stream, filterSubjects = [], capacity = defaultCapacity } = this.#options
    let missingSince: number | undefined
    const isAborted = (): boolean => signal?.aborted === true
    for (let attempt = 0; !isAborted(); attempt += 1) {
      await untilConnected(this.#bus, signal)
      if (this.#bus.nats.isClosed()) throw new BusError('the connection to NATS was closed', { code: 'NatsClosed' })
      try {
        await this.#checkForGap()
        const start = { seq: this.#lastSeq + 1 }
        this.#session = await ConsumerSession.open(this.#bus, { stream, filterSubjects, start, capacity })
        // Told to end while it was opened: nobody else closes it then, and nothing would end the wait for messages.
        if (isAborted()) this.#session.close()
        else if (this.#session.ended === undefined) return this.#session
      } catch (error) {
        if (error instanceof BusError && error.retry === 'never') throw error
        if (error instanceof JetStreamApiError && error.code === streamNotFound) {
          missingSince ??= this.#clock.now()
          if (this.#clock.now() - missingSince > streamMissingPatienceMs) throw missing(stream, error)
        }
        this.#options.onInterruption?.(errorMessage(error))
      }
      await this.#clock
        .sleep(50 + backoffDelay({ baseMs: 50, capMs: 2_000 }, attempt, Math.random), signal)
        .catch(() => {})
    }
    return undefined
  }

  async #checkForGap(): Promise<void> {
    const { stream, onGap } = this.#options
    const { state, created } = await whileConnected(this.#bus, () => this.#bus.manager.streams.info(stream))
    const isAnother = this.#created !== undefined && this.#created !== created
    this.#created = created
    const next = this.#lastSeq + 1
    // An emptied stream keeps its numbers: its first sequence is then one past its last.
    const kind = isAnother || next > state.last_seq + 1 ? 'recreated' : next < state.first_seq ? 'truncated' : undefined
    if (kind === undefined) return
    const gap: Gap = { kind, stream, from: next, resumeAt: Math.max(1, state.first_seq) }
    if (onGap === undefined) throw unexpectedGap(gap)
    onGap(gap)
    this.#lastSeq = gap.resumeAt - 1
  }
}

function missing(stream: string, cause: unknown): BusError {
  return new BusError(`there is no stream ${stream}: start a service that creates streams, or restore it`, {
    code: 'StreamMissing',
    cause,
  })
}

function unexpectedGap(gap: Gap): BusError {
  const what =
    gap.kind === 'truncated'
      ? `what came from sequence ${gap.from} on has been removed by age or size`
      : `it ends before sequence ${gap.from}, so it is not the stream that was read before`
  return new BusError(`stream ${gap.stream} cannot be read on: ${what}. The reader must start from the last state.`, {
    code: 'StreamMismatch',
  })
}
