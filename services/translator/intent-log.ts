import { BusError, type Publisher } from '#libs/bus'
import { type Intent, type SidedRef, encodeIntent } from '#libs/events'
import type { Clock } from '#libs/kernel'
import { type Tracing, changeSpans, decisionSpans, parseTraceparent } from '#libs/telemetry'
import { unlessAborted } from './unless-aborted.ts'

/** Unsettled messages from which on the publisher is asked for room: fewer than its window holds. */
const ASK_FOR_ROOM = 256

export type IntentLogOptions = {
  publisher: Publisher
  partition: number
  clock: Clock
  /** @default none */
  tracing?: Tracing
  /** Told of an intent that the log will never take, such as one that is too large. */
  onRefused: (intent: Intent, error: BusError) => void
  /** Told of an intent that the log had already: its outcome may have been read before. */
  onDoubled: (intent: Intent) => void
  /** Told when nothing can be published any more. */
  onFailure: (error: unknown) => void
}

/** Publishes intents, and keeps account of those that are not stored yet. */
export class IntentLog {
  readonly #options: IntentLogOptions
  readonly #unstored = new Set<Promise<unknown>>()
  /** The last intent for each target that is not stored yet. */
  readonly #byTarget = new Map<string, Promise<unknown>>()

  constructor(options: IntentLogOptions) {
    this.#options = options
  }

  /** How many intents are on their way. */
  get unstored(): number {
    return this.#unstored.size
  }

  /**
   * Resolves when the intent is on its way. What it needs is in the log before it, whatever has to be sent again.
   * @param earlier `traceparent`s of further changes that it follows from
   * @throws the signal's reason when it aborts while there is something to wait for
   */
  async publish(intent: Intent, signal: AbortSignal, earlier: readonly string[] = []): Promise<void> {
    const { publisher, partition, onRefused, onDoubled, onFailure } = this.#options
    const needed = intent.needs.flatMap((ref) => this.#byTarget.get(targetId(ref)) ?? [])
    if (needed.length > 0) await unlessAborted(Promise.all(needed), signal)
    if (publisher.unsettled >= ASK_FOR_ROOM) await unlessAborted(publisher.ready(), signal)
    const id = targetId(intent.target)
    const stored = publisher.publish(encodeIntent(intent, partition)).then(
      ({ duplicate }) => {
        if (duplicate) onDoubled(intent)
        this.#trace(intent, earlier)
      },
      (error: unknown) => {
        if (!isRefusal(error)) return onFailure(error)
        this.#trace(intent, earlier, error)
        onRefused(intent, error)
      },
    )
    this.#unstored.add(stored)
    this.#byTarget.set(id, stored)
    void stored.finally(() => {
      this.#unstored.delete(stored)
      if (this.#byTarget.get(id) === stored) this.#byTarget.delete(id)
    })
  }

  #trace(intent: Intent, earlier: readonly string[], error?: BusError): void {
    const { tracing, clock } = this.#options
    if (tracing?.isOn !== true) return
    const context = parseTraceparent(intent.traceparent)
    if (context === undefined) return
    const isWanted = tracing.wants(context)
    if (!isWanted && error === undefined) return
    const { id, target, write, rule, attempt, observedAt, loggedAt, decidedAt } = intent
    const failed = error === undefined ? {} : { error: error.code }
    const spans = decisionSpans(
      context,
      { id, target, op: write.op, rule, attempt },
      { loggedAt, decidedAt, sentAt: clock.now(), earlier, ...failed },
    )
    if (isWanted) return tracing.record(spans)
    // Nobody else has kept anything of this trace, and no writer will see it.
    const about = { ...target, side: 'virtual', ...intent.source }
    tracing.recordUnsampled([...changeSpans(context, about, { observedAt, storedAt: loggedAt }), ...spans])
  }

  /** Resolves when everything published so far is stored or refused. */
  async allStored(): Promise<void> {
    await Promise.all(this.#unstored)
  }
}

function isRefusal(error: unknown): error is BusError {
  return error instanceof BusError && (error.code === 'MessageInvalid' || error.code === 'PublishRejected')
}

function targetId(target: SidedRef): string {
  return `${target.side}/${target.resource}/${target.namespace}/${target.name}`
}
