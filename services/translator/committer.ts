import { STREAMS } from '#libs/events'
import type { Clock } from '#libs/kernel'
import type { Projection } from '#libs/projection'
import type { Alarm } from './alarm.ts'
import type { IntentLog } from './intent-log.ts'
import type { PositionReport } from './position-report.ts'
import { unlessAborted } from './unless-aborted.ts'

export type CommitterOptions = {
  projection: Projection
  intents: IntentLog
  report: PositionReport
  clock: Clock
  alarm: Alarm
  /** Breaks off the wait for the log. */
  signal: AbortSignal
}

/** Folds go into one transaction for this long: a commit per message would cost more than the message. */
const COMMIT_EVERY_MS = 100

/**
 * A commit must not be ahead of the log. It is put off while intents are on their way, as waiting for them would hold
 * the partition up; under load something always is, so after this long it waits for them.
 */
const COMMIT_PATIENCE_MS = 500
const COMMIT_RETRY_MS = 10

/** Commits what was folded and decided: now and then, and never before the intents that follow from it are stored. */
export class Committer {
  readonly #options: CommitterOptions
  #at: number | undefined

  constructor(options: CommitterOptions) {
    this.#options = options
  }

  /** Says that there is something to commit. */
  soon(): void {
    this.#at ??= this.#options.clock.now() + COMMIT_EVERY_MS
    this.#options.alarm.set(this.#at)
  }

  async ifDue(): Promise<void> {
    if (this.#at === undefined) return
    const { clock, intents, alarm } = this.#options
    const now = clock.now()
    const isPatient = now < this.#at + COMMIT_PATIENCE_MS && intents.unstored > 0
    if (now >= this.#at && !isPatient) await this.now()
    else alarm.set(Math.max(this.#at, now + COMMIT_RETRY_MS))
  }

  /** Acks first, then the commit, then the position for others to see. */
  async now(): Promise<void> {
    const { projection, intents, report, signal } = this.#options
    await unlessAborted(intents.allStored(), signal)
    projection.commit()
    this.#at = undefined
    const streams = [STREAMS.changes, STREAMS.outcomes]
    report.moved(new Map(streams.map((stream) => [stream, projection.position(stream)])))
  }
}
