import type { Msg, MsgHdrs } from '@nats-io/nats-core'
import { nuid } from '@nats-io/nats-core'
import { HEADERS, type WireMessage } from '#libs/events'
import { type Clock, systemClock } from '#libs/kernel'
import type { Bus } from './connection.ts'
import { BusError } from './errors.ts'
import { encodeHeaders } from './message.ts'

/** The server's word that a message is stored. */
export type PubAck = {
  stream: string
  seq: number
  /** Whether it had been stored before, under the same message id. */
  duplicate: boolean
}

export type PublisherOptions = {
  /** How many messages may be on their way at once. @default 512 */
  window?: number
  /** How many bytes of payload may be on their way at once. @default 16 MiB */
  windowBytes?: number
  /** Messages that follow each other within this time share a socket write. @default 2 */
  corkMs?: number
  /** Without an answer for this long a message is sent again. @default 5000 */
  ackTimeoutMs?: number
  /** Told each time messages are sent again, for logs and metrics. */
  onResend?: (resend: {
    reason: 'reconnected' | 'no answer' | 'refused for now'
    count: number
    detail?: string
  }) => void
  clock?: Clock
}

/**
 * Publishes with acknowledgement, many at once. A message is sent again under the same id until the server has stored
 * it, over any number of disconnections; of one subject, none is sent before its predecessor is stored, so order per
 * subject holds whatever is sent again.
 */
export type Publisher = {
  /**
   * Publishes a message; resolves when it is stored.
   * @throws BusError `PublishRejected` when the server will never take it, `MessageInvalid`, `PublisherClosed`
   */
  publish(message: WireMessage): Promise<PubAck>
  /** Resolves when fewer messages than the window holds are unsettled. Await it before `publish` to stay bounded. */
  ready(): Promise<void>
  /** Resolves when everything published so far is settled. */
  flush(): Promise<void>
  /** How many messages are not settled yet. */
  readonly unsettled: number
  /** Stops at once; what is unsettled is rejected. Call `flush` first to leave nothing behind. */
  close(): void
}

type Entry = {
  reply: string
  subject: string
  headers: MsgHdrs
  payload: Uint8Array
  sentAt: number
  /** Earliest time to send it again after a refusal; 0 when there was none. */
  retryAt: number
  attempts: number
  /** The next message of the same subject, held until this one is stored. */
  next: Entry | undefined
  resolve(ack: PubAck): void
  reject(error: Error): void
}

const sweepEveryMs = 250
const refusalBaseMs = 100
const refusalCapMs = 5_000

export function createPublisher(bus: Bus, options: PublisherOptions = {}): Publisher {
  return new AckedPublisher(bus, options)
}

class AckedPublisher implements Publisher {
  readonly #bus: Bus
  readonly #options: Required<Omit<PublisherOptions, 'onResend'>> & Pick<PublisherOptions, 'onResend'>
  readonly #inbox: string
  /** In the order they were sent first. */
  readonly #inFlight = new Map<string, Entry>()
  /** Waiting for room in the window. */
  #queue: Entry[] = []
  /** The last unsettled message of each subject. */
  readonly #tails = new Map<string, Entry>()
  #inFlightBytes = 0
  #unsettled = 0
  #lastId = 0
  #lastFlush = 0
  #flushPlanned = false
  #closed: BusError | undefined
  #sweep: NodeJS.Timeout | undefined
  #readyWaiters: (() => void)[] = []
  #flushWaiters: (() => void)[] = []
  readonly #stop: (() => void)[] = []

  constructor(bus: Bus, options: PublisherOptions) {
    this.#bus = bus
    this.#options = {
      window: 512,
      windowBytes: 16 * 1024 ** 2,
      corkMs: 2,
      ackTimeoutMs: 5_000,
      clock: systemClock,
      ...options,
    }
    this.#inbox = `${bus.inboxPrefix}.${nuid.next()}`
    const subscription = bus.nats.subscribe(`${this.#inbox}.*`, { callback: (_error, msg) => this.#onAck(msg) })
    const offConnection = bus.onConnection((connected) => {
      if (connected) this.#resend([...this.#inFlight.values()], 'reconnected')
      this.#plan()
    })
    this.#stop.push(() => subscription.unsubscribe(), offConnection)
    void bus.closed.then((reason) =>
      this.#end(new BusError('the connection to NATS was closed', { code: 'NatsClosed', cause: reason })),
    )
  }

  get unsettled(): number {
    return this.#unsettled
  }

  publish(message: WireMessage): Promise<PubAck> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed)
    return new Promise((resolve, reject) => {
      const entry: Entry = {
        reply: `${this.#inbox}.${(this.#lastId += 1).toString(36)}`,
        subject: message.subject,
        headers: encodeHeaders(withMessageId(message.headers)),
        payload: message.payload,
        sentAt: 0,
        retryAt: 0,
        attempts: 0,
        next: undefined,
        resolve,
        reject,
      }
      this.#unsettled += 1
      const predecessor = this.#tails.get(entry.subject)
      this.#tails.set(entry.subject, entry)
      if (predecessor === undefined) {
        this.#queue.push(entry)
        this.#plan()
      } else predecessor.next = entry
    })
  }

  async ready(): Promise<void> {
    while (this.#closed === undefined && this.#unsettled >= this.#options.window)
      await new Promise<void>((resolve) => this.#readyWaiters.push(resolve))
  }

  async flush(): Promise<void> {
    while (this.#closed === undefined && this.#unsettled > 0)
      await new Promise<void>((resolve) => this.#flushWaiters.push(resolve))
  }

  close(): void {
    this.#end(new BusError('the publisher was closed', { code: 'PublisherClosed' }))
  }

  /** The first message after a pause goes at once; those that follow it share a write. */
  #plan(): void {
    if (this.#flushPlanned || this.#queue.length === 0 || this.#closed !== undefined) return
    this.#flushPlanned = true
    const wait = this.#lastFlush + this.#options.corkMs - this.#options.clock.now()
    if (wait <= 0) setImmediate(() => this.#sendQueued())
    else setTimeout(() => this.#sendQueued(), wait)
  }

  #sendQueued(): void {
    this.#flushPlanned = false
    if (this.#closed !== undefined || !this.#bus.isConnected()) return
    const { window, windowBytes, clock } = this.#options
    const now = clock.now()
    let sent = 0
    for (const entry of this.#queue) {
      if (this.#inFlight.size >= window) break
      if (this.#inFlight.size > 0 && this.#inFlightBytes + entry.payload.length > windowBytes) break
      sent += 1
      this.#inFlight.set(entry.reply, entry)
      this.#inFlightBytes += entry.payload.length
      this.#send(entry, now)
    }
    if (sent > 0) this.#queue = this.#queue.slice(sent)
    this.#lastFlush = now
    if (this.#inFlight.size > 0) this.#sweep ??= setInterval(() => this.#resendOverdue(), sweepEveryMs)
  }

  #send(entry: Entry, now: number): void {
    entry.sentAt = now
    entry.retryAt = 0
    try {
      this.#bus.nats.publish(entry.subject, entry.payload, { headers: entry.headers, reply: entry.reply })
    } catch (error) {
      // Closed for good: all that is not stored is rejected in a moment.
      if (this.#bus.nats.isClosed()) return
      // Nothing was written: the subject or the size is wrong.
      const message = `the message on ${entry.subject} cannot be sent: ${(error as Error).message}`
      this.#settle(entry)
      entry.reject(new BusError(message, { code: 'MessageInvalid', cause: error }))
    }
  }

  #onAck(msg: Msg): void {
    const entry = this.#inFlight.get(msg.subject)
    if (entry === undefined) return
    const reply = readReply(msg)
    if ('seq' in reply) {
      this.#settle(entry)
      entry.resolve(reply)
    } else if (reply.forGood) {
      this.#settle(entry)
      entry.reject(
        new BusError(`NATS refuses the message on ${entry.subject}: ${reply.problem}`, { code: 'PublishRejected' }),
      )
    } else {
      entry.attempts += 1
      const delay = Math.min(refusalCapMs, refusalBaseMs * 2 ** Math.min(entry.attempts, 10))
      entry.retryAt = this.#options.clock.now() + delay
      this.#options.onResend?.({ reason: 'refused for now', count: 1, detail: reply.problem })
    }
  }

  #settle(entry: Entry): void {
    this.#inFlight.delete(entry.reply)
    this.#inFlightBytes -= entry.payload.length
    this.#unsettled -= 1
    if (entry.next !== undefined) this.#queue.push(entry.next)
    else this.#tails.delete(entry.subject)
    this.#plan()
    if (this.#unsettled < this.#options.window) wake(this.#readyWaiters)
    if (this.#unsettled > 0) return
    clearInterval(this.#sweep)
    this.#sweep = undefined
    wake(this.#flushWaiters)
  }

  #resendOverdue(): void {
    if (!this.#bus.isConnected()) return
    const now = this.#options.clock.now()
    const overdue: Entry[] = []
    const refused: Entry[] = []
    for (const entry of this.#inFlight.values()) {
      if (entry.retryAt > 0) {
        if (now >= entry.retryAt) refused.push(entry)
      } else if (now - entry.sentAt >= this.#options.ackTimeoutMs * 2 ** Math.min(entry.attempts, 3))
        overdue.push(entry)
    }
    for (const entry of refused) this.#send(entry, now)
    this.#resend(overdue, 'no answer')
  }

  #resend(entries: readonly Entry[], reason: 'reconnected' | 'no answer'): void {
    if (entries.length === 0 || this.#closed !== undefined) return
    const now = this.#options.clock.now()
    for (const entry of entries) {
      // A server that is slow, or a connection that is dead without a word, is not helped by more of the same.
      entry.attempts = reason === 'no answer' ? entry.attempts + 1 : 0
      this.#send(entry, now)
    }
    this.#options.onResend?.({ reason, count: entries.length })
  }

  #end(reason: BusError): void {
    if (this.#closed !== undefined) return
    this.#closed = reason
    clearInterval(this.#sweep)
    for (const stop of this.#stop) stop()
    const heads = [...this.#inFlight.values(), ...this.#queue]
    for (const entry of heads) {
      for (let each: Entry | undefined = entry; each !== undefined; each = each.next) each.reject(reason)
    }
    this.#inFlight.clear()
    this.#queue = []
    this.#tails.clear()
    this.#unsettled = 0
    wake(this.#readyWaiters)
    wake(this.#flushWaiters)
  }
}

function wake(waiters: (() => void)[]): void {
  for (const resume of waiters.splice(0)) resume()
}

function withMessageId(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return headers[HEADERS.msgId] === undefined ? { ...headers, [HEADERS.msgId]: nuid.next() } : headers
}

type Reply = PubAck | { problem: string; forGood: boolean }

/** What the server answered: stored, refused for good (a fault of the message), or refused for now. */
function readReply(msg: Msg): Reply {
  if (msg.data.length === 0) return { problem: msg.headers?.status ?? 'an empty answer', forGood: false }
  const answer = JSON.parse(msg.string()) as Partial<PubAck> & {
    error?: { code: number; err_code?: number; description: string }
  }
  if (answer.error !== undefined) {
    const { code, description } = answer.error
    return { problem: description, forGood: code >= 400 && code < 500 && code !== 408 && code !== 429 }
  }
  return { stream: answer.stream ?? '', seq: answer.seq ?? 0, duplicate: answer.duplicate === true }
}
