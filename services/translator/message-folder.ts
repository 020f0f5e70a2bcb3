import { type LogMessage, STREAMS, type StreamName, decodeChange, decodeOutcome, parseSubject } from '#libs/events'
import { errorMessage } from '#libs/kernel'
import type { Projection, Sweep } from '#libs/projection'
import type { Logger } from '#libs/telemetry'
import { type Batch, causeOf } from './batch.ts'
import type { KeyDecider } from './key-decider.ts'
import type { TranslatorMetrics } from './metrics.ts'
import type { Cause } from './plan.ts'
import { Reports } from './reports.ts'

export type MessageFolderOptions = {
  partition: number
  projection: Projection
  decider: KeyDecider
  reports: Reports
  logger: Logger
  metrics: TranslatorMetrics
  /** The cause of what follows from an outcome of this sequence, or from none. */
  ownCause: (outcomeSeq?: number) => Cause
  /** Told of what a change has touched that may be very much. */
  onSweep: (sweep: Sweep) => void
}

/** Takes messages of both streams in, and notes in a batch what they have touched. */
export class MessageFolder {
  readonly #options: MessageFolderOptions

  constructor(options: MessageFolderOptions) {
    this.#options = options
  }

  /** Folds one message in. One that cannot be read is told of and skipped: it must not stop all others. */
  fold(stream: StreamName, message: LogMessage, batch: Batch): void {
    try {
      if (stream === STREAMS.outcomes) this.#outcome(message, batch)
      else this.#change(message, batch)
    } catch (error) {
      const { logger, metrics, partition } = this.#options
      metrics.poison('fold')
      const { seq, subject } = message
      logger.error({ partition, seq, subject, reason: 'PoisonMessage', err: error }, 'message cannot be read')
      if (stream === STREAMS.changes) this.#unreadable(message, errorMessage(error), batch)
    }
  }

  #outcome(message: LogMessage, batch: Batch): void {
    const cause = this.#options.ownCause(message.seq)
    const { keys, announcements } = this.#options.decider.settle(decodeOutcome(message), cause)
    batch.add(keys, cause)
    batch.announcements.push(...announcements)
  }

  #change(message: LogMessage, batch: Batch): void {
    const { projection, decider, reports, metrics, onSweep } = this.#options
    const change = decodeChange(message)
    if (Reports.covers(change)) {
      batch.announcements.push(...reports.take(change, causeOf(change)))
      return
    }
    decider.sees(change)
    const { keys, sweeps = [] } = projection.fold(change)
    if (change.key.side === 'host') batch.announcements.push(...reports.shown(change.key))
    decider.saw(change)
    metrics.folded(change.key.side, change.key.resource)
    batch.add(keys, causeOf(change))
    for (const sweep of sweeps) onSweep(sweep)
  }

  #unreadable({ subject, seq, storedAt }: LogMessage, why: string, batch: Batch): void {
    const cause: Cause = { seq, observedAt: storedAt, loggedAt: storedAt }
    try {
      batch.announcements.push(...this.#options.decider.unreadable(parseSubject(subject).key, why, cause))
    } catch {
      // Not even whose it is can be told.
    }
  }
}
