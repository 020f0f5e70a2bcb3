import { BusError, type Publisher } from '#libs/bus'
import { type Intent, type SidedRef, encodeIntent } from '#libs/events'
import { unlessAborted } from './unless-aborted.ts'

/** Unsettled messages from which on the publisher is asked for room: fewer than its window holds. */
const ASK_FOR_ROOM = 256

export type IntentLogOptions = {
  publisher: Publisher
  partition: number
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
   * @throws the signal's reason when it aborts while there is something to wait for
   */
  async publish(intent: Intent, signal: AbortSignal): Promise<void> {
    const { publisher, partition, onRefused, onDoubled, onFailure } = this.#options
    const needed = intent.needs.flatMap((ref) => this.#byTarget.get(targetId(ref)) ?? [])
    if (needed.length > 0) await unlessAborted(Promise.all(needed), signal)
    if (publisher.unsettled >= ASK_FOR_ROOM) await unlessAborted(publisher.ready(), signal)
    const id = targetId(intent.target)
    const stored = publisher.publish(encodeIntent(intent, partition)).then(
      ({ duplicate }) => {
        if (duplicate) onDoubled(intent)
      },
      (error: unknown) => {
        if (isRefusal(error)) onRefused(intent, error)
        else onFailure(error)
      },
    )
    this.#unstored.add(stored)
    this.#byTarget.set(id, stored)
    void stored.finally(() => {
      this.#unstored.delete(stored)
      if (this.#byTarget.get(id) === stored) this.#byTarget.delete(id)
    })
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
