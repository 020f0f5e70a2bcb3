import type { Publisher } from '#libs/bus'
import { type LogMessage, type LoggedIntent, type Outcome, encodeOutcome } from '#libs/events'
import type { Clock } from '#libs/kernel'
import type { Exchange, Tracing } from '#libs/telemetry'
import type { WriterMetrics } from './metrics.ts'
import { outcomeOf, poisonOutcome } from './outcome-of.ts'
import type { Settled } from './result.ts'
import type { Settlement } from './settlement.ts'
import { traceOutcome } from './trace-outcome.ts'

export type OutcomeLogOptions = {
  partition: number
  publisher: Publisher
  settlement: Settlement
  clock: Clock
  metrics: WriterMetrics
  /** @default none */
  tracing?: Tracing
  /** Once this aborts nothing more is said: an owner that has lost the partition has no say in it. */
  signal: AbortSignal
  /** Told when an outcome cannot be stored: then the intent stays unsettled, and the work must begin anew. */
  onFailure: (error: unknown) => void
}

/** Stores outcomes. An intent counts as settled when its outcome is stored. */
export class OutcomeLog {
  readonly #options: OutcomeLogOptions
  readonly #storing = new Set<Promise<void>>()

  constructor(options: OutcomeLogOptions) {
    this.#options = options
  }

  settled(
    intent: LoggedIntent,
    settled: Settled,
    done: { startedAt?: number | undefined; exchanges?: readonly Exchange[] | undefined } = {},
  ): void {
    const finishedAt = this.#options.clock.now()
    const outcome = outcomeOf(intent, settled, { startedAt: done.startedAt ?? finishedAt, finishedAt })
    this.#options.metrics.settled(intent, outcome)
    if (this.#options.tracing?.isOn === true) traceOutcome(this.#options.tracing, intent, { outcome, ...done })
    this.#store(intent.seq, outcome)
  }

  /** For a message that is no intent this build can read. */
  poison(message: LogMessage, why: string): void {
    const outcome = poisonOutcome(message, why, this.#options.clock.now())
    if (outcome === undefined) {
      this.#options.settlement.settle(message.seq)
      return
    }
    this.#options.metrics.poison(outcome)
    this.#store(message.seq, outcome)
  }

  /** Resolves when what was said so far is stored, or cannot be. */
  async flush(): Promise<void> {
    await Promise.allSettled(this.#storing)
  }

  #store(seq: number, outcome: Outcome): void {
    const { publisher, partition, settlement, signal, onFailure } = this.#options
    if (signal.aborted) return
    const storing = publisher
      .publish(encodeOutcome(outcome, partition))
      .then((ack) => settlement.settle(seq, ack.seq), onFailure)
    this.#storing.add(storing)
    void storing.finally(() => this.#storing.delete(storing))
  }
}
