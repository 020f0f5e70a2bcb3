import { randomUUID } from 'node:crypto'
import { BusError, type Publisher } from '#libs/bus'
import { HEADERS, type WireMessage } from '#libs/events'
import { CoalescingQueue, type Queued } from './coalescing-queue.ts'

/** A change on its way to the log. */
export type LaneItem = Queued & {
  message: WireMessage
  /** Called when the change, or a newer state in its place, is stored. */
  settle(): void
  /** Called when this very change is stored, or will never be. */
  stored?: (error?: Error) => void
}

export type LaneOptions = {
  publisher: Pick<Publisher, 'publish'>
  /** How many changes may be unacked at once; what exceeds it waits and coalesces. */
  window: number
  /** Whether this process may still write; asked before each publish. */
  held: () => boolean
  /** Told of a message that the log will never take. */
  onRefused(subject: string, error: Error): void
  /** Told by how much the number of waiting changes has grown or, below 0, shrunk. */
  onWaiting: (difference: number) => void
}

/** One tenant's way to the log: a bounded window of unacked changes, so that a busy tenant fills its own only. */
export class ChangeLane {
  readonly #options: LaneOptions
  readonly #queue = new CoalescingQueue<LaneItem>(mergeItems)
  #inFlight = 0

  constructor(options: LaneOptions) {
    this.#options = options
  }

  add(item: LaneItem): void {
    const before = this.#queue.size
    this.#queue.push(item)
    this.#pump(before)
  }

  /** @param before how many waited when that was told last */
  #pump(before = this.#queue.size): void {
    const { publisher, window, held, onWaiting } = this.#options
    while (this.#inFlight < window && held()) {
      const item = this.#queue.shift()
      if (item === undefined) break
      this.#inFlight++
      publisher.publish(item.message).then(
        () => {
          item.stored?.()
          this.#onSettled(item)
        },
        (error: Error) => this.#onFailed(item, error),
      )
    }
    if (this.#queue.size !== before) onWaiting(this.#queue.size - before)
  }

  #onSettled(item: LaneItem): void {
    this.#inFlight--
    item.settle()
    this.#pump()
  }

  /** What the log refuses for good must not hold up what follows it. Anything else ends with the connection. */
  #onFailed(item: LaneItem, error: Error): void {
    const isRefused = error instanceof BusError && (error.code === 'PublishRejected' || error.code === 'MessageInvalid')
    if (!isRefused) return
    item.stored?.(error)
    this.#options.onRefused(item.subject, error)
    this.#onSettled(item)
  }
}

/**
 * The newer state under an id of its own. After a crash both states may be sent apart; were the newer then dropped as a
 * double of this one, the log would end with the older.
 */
function mergeItems(older: LaneItem, newer: LaneItem): LaneItem {
  // A watch that resumes after the older one is told of the newer.
  older.settle()
  return { ...newer, message: withUniqueId(newer.message) }
}

/** The message under an id that no other has, so that the server never takes it for a double. */
export function withUniqueId(message: WireMessage): WireMessage {
  const id = `${message.headers[HEADERS.msgId]}/${randomUUID()}`
  return { ...message, headers: { ...message.headers, [HEADERS.msgId]: id } }
}
