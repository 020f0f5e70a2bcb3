import { randomUUID } from 'node:crypto'
import { BusError, type Publisher } from '#libs/bus'
import { HEADERS, type WireMessage } from '#libs/events'
import { forgetOldest } from '#libs/kernel'
import type { ChangeWindows } from './change-windows.ts'
import { CoalescingQueue, type Queued } from './coalescing-queue.ts'
import type { Sender } from './tenant-window.ts'

/** A change on its way to the log. */
export type LaneItem = Queued & {
  message: WireMessage
  /** Whether its message id is one that no other has. */
  isApart?: boolean
  /** Called when the change, or a newer state in its place, is stored. */
  settle(): void
  /** Called when this very change is stored, or will never be. */
  stored?: (error?: Error) => void
}

export type LaneOptions = {
  publisher: Pick<Publisher, 'publish'>
  /** Gives each tenant its turns. */
  windows: Pick<ChangeWindows, 'ask'>
  /** Whether this process may still write; asked before each publish. */
  held: () => boolean
  /** Told of a message that the log will never take. */
  onRefused(subject: string, error: Error): void
  /** Told by how much the number of waiting changes has grown or, below 0, shrunk. */
  onWaiting: (difference: number) => void
}

/**
 * Objects that are remembered to have been told under an id of their own. What follows of them must not be dropped as a
 * double of what stood before that: as many as may do so within the server's window for doubles.
 */
const APART = 10_000

/** One tenant's way to the log: what exceeds its window waits here, the newest state of each object. */
export class ChangeLane implements Sender {
  readonly #tenant: string
  readonly #options: LaneOptions
  readonly #queue = new CoalescingQueue<LaneItem>(mergeItems)
  readonly #apart = new Set<string>()

  constructor(tenant: string, options: LaneOptions) {
    this.#tenant = tenant
    this.#options = options
  }

  add(item: LaneItem): void {
    const before = this.#queue.size
    this.#queue.push(item)
    if (this.#queue.size !== before) this.#options.onWaiting(this.#queue.size - before)
    this.#options.windows.ask(this.#tenant, this)
  }

  send(mayGo: (subject: string) => boolean): ReturnType<Sender['send']> {
    const { publisher, held, onWaiting } = this.#options
    if (!held()) return undefined
    const item = this.#queue.shift(mayGo)
    if (item === undefined) return undefined
    onWaiting(-1)
    const { promise, resolve } = Promise.withResolvers<number | undefined>()
    publisher.publish(this.#messageOf(item)).then(
      ({ seq }) => {
        item.stored?.()
        item.settle()
        resolve(seq)
      },
      (error: Error) => {
        if (this.#isRefused(item, error)) resolve(undefined)
      },
    )
    return { subject: item.subject, stored: promise }
  }

  /**
   * A watch that was resumed repeats what is in the log already, and the server drops that as doubles. Where two of the
   * repeated states became one, that one is stored again; were the next dropped, the log would end with it.
   */
  #messageOf({ subject, message, isApart = false }: LaneItem): WireMessage {
    const isKnown = this.#apart.delete(subject)
    if (!isApart && !isKnown) return message
    this.#apart.add(subject)
    forgetOldest(this.#apart, APART)
    return isApart ? message : withUniqueId(message)
  }

  release(subject: string): boolean {
    return this.#queue.release(subject)
  }

  /** What the log refuses for good must not hold up what follows it. Anything else ends with the connection. */
  #isRefused(item: LaneItem, error: Error): boolean {
    const isRefused = error instanceof BusError && (error.code === 'PublishRejected' || error.code === 'MessageInvalid')
    if (!isRefused) return false
    item.stored?.(error)
    this.#options.onRefused(item.subject, error)
    item.settle()
    return true
  }
}

/**
 * The newer state under an id of its own. After a crash both states may be sent apart; were the newer then dropped as a
 * double of this one, the log would end with the older.
 */
function mergeItems(older: LaneItem, newer: LaneItem): LaneItem {
  // A watch that resumes after the older one is told of the newer.
  older.settle()
  return { ...newer, message: withUniqueId(newer.message), isApart: true }
}

/** The message under an id that no other has, so that the server never takes it for a double. */
export function withUniqueId(message: WireMessage): WireMessage {
  const id = `${message.headers[HEADERS.msgId]}/${randomUUID()}`
  return { ...message, headers: { ...message.headers, [HEADERS.msgId]: id } }
}
