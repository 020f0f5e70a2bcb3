import { AckPolicy, type ConsumerConfig, DeliverPolicy } from '@nats-io/jetstream'
import { type Msg, type Subscription, nuid } from '@nats-io/nats-core'
import type { LogMessage } from '#libs/events'
import type { Bus } from './connection.ts'
import { parseDelivery, toLogMessage } from './message.ts'
import { whileConnected } from './while-connected.ts'

export type SessionOptions = {
  stream: string
  /** Subjects to read; all of the stream when empty. */
  filterSubjects: readonly string[]
  start: { seq: number } | 'lastPerSubject'
  /** How many messages are buffered at most. */
  capacity: number
}

/** Why a session is over. */
export type SessionEnd = 'closed' | 'disconnected' | 'silent' | 'out of sequence' | 'consumer gone'

const expiresMs = 3_000
const heartbeatMs = 1_000
/** Three heartbeats missed, and some slack for a busy event loop. */
const silentAfterMs = 3_500
const nanosPerMs = 1_000_000
const jsonEncoder = new TextEncoder()

/**
 * One life of an ephemeral, unacknowledged consumer. Messages come in the stream's order and without a hole, or the
 * session ends: with the connection, when the server falls silent or forgets the consumer, or at a message that is not
 * the next one. Whoever reads opens another session where this one ended.
 */
export class ConsumerSession {
  readonly #bus: Bus
  readonly #options: SessionOptions
  readonly #consumer: string
  readonly #inbox: string
  #subscription: Subscription | undefined
  #buffer: LogMessage[] = []
  #consumerSeq = 0
  /** How many messages the server has been asked for and has not sent. */
  #requested = 0
  #lastHeard = 0
  #pending = 0
  #ended: SessionEnd | undefined
  #wake: (() => void) | undefined
  #watchdog: NodeJS.Timeout | undefined
  #offConnection: (() => void) | undefined

  private constructor(bus: Bus, options: SessionOptions) {
    this.#bus = bus
    this.#options = options
    this.#consumer = `reader-${nuid.next()}`
    this.#inbox = `${bus.inboxPrefix}.${nuid.next()}`
  }

  /**
   * Creates the consumer and asks for the first messages.
   * @throws what the client throws: no such stream, no answer in time, no connection
   */
  static async open(bus: Bus, options: SessionOptions): Promise<ConsumerSession> {
    const session = new ConsumerSession(bus, options)
    await session.#start()
    return session
  }

  /** How many messages that match have not been taken yet, as of the last one received. */
  get pending(): number {
    return this.#pending + this.#buffer.length
  }

  get ended(): SessionEnd | undefined {
    return this.#ended
  }

  /** All that is buffered, oldest first. What was received before the session ended can still be taken. */
  take(limit = Number.POSITIVE_INFINITY): LogMessage[] {
    const taken = this.#buffer.length <= limit ? this.#buffer : this.#buffer.slice(0, limit)
    this.#buffer = taken === this.#buffer ? [] : this.#buffer.slice(limit)
    this.#request()
    return taken
  }

  /** Resolves when there is something to take or the session has ended. */
  async wait(): Promise<void> {
    if (this.#buffer.length > 0 || this.#ended !== undefined) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }

  /**
   * Up to which sequence of the stream nothing that matches is left to take: the stream's end, when the server says so.
   * Undefined while there is something left.
   */
  async endWhenIdle(): Promise<number | undefined> {
    const { stream } = this.#options
    const { manager } = this.#bus
    const { state } = await whileConnected(this.#bus, () => manager.streams.info(stream))
    const consumer = await whileConnected(this.#bus, () => manager.consumers.info(stream, this.#consumer))
    const { num_pending: pending, delivered } = consumer
    const idle = pending === 0 && delivered.consumer_seq === this.#consumerSeq && this.#buffer.length === 0
    return idle && this.#ended === undefined ? state.last_seq : undefined
  }

  close(): void {
    this.#end('closed')
  }

  async #start(): Promise<void> {
    const { stream, filterSubjects, start } = this.#options
    const config: Partial<ConsumerConfig> = {
      name: this.#consumer,
      ack_policy: AckPolicy.None,
      inactive_threshold: 60_000 * nanosPerMs,
      mem_storage: true,
      num_replicas: 1,
      max_waiting: 16,
      filter_subjects: filterSubjects.length === 0 ? ['>'] : [...filterSubjects],
      ...(start === 'lastPerSubject'
        ? { deliver_policy: DeliverPolicy.LastPerSubject }
        : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: Math.max(1, start.seq) }),
    }
    this.#offConnection = this.#bus.onConnection((connected) => {
      if (!connected) this.#end('disconnected')
    })
    try {
      const info = await whileConnected(this.#bus, () => this.#bus.manager.consumers.add(stream, config))
      this.#pending = info.num_pending
    } catch (error) {
      this.#end('closed')
      throw error
    }
    if (this.#ended !== undefined) return
    this.#subscription = this.#bus.nats.subscribe(this.#inbox, { callback: (_error, msg) => this.#onMessage(msg) })
    void this.#subscription.closed.then(() => this.#end('disconnected'))
    this.#lastHeard = performance.now()
    this.#watchdog = setInterval(() => this.#checkSilence(), heartbeatMs / 2)
    this.#request()
  }

  #onMessage(msg: Msg): void {
    if (this.#ended !== undefined) return
    this.#lastHeard = performance.now()
    const delivery = parseDelivery(msg.reply)
    if (delivery === undefined) {
      this.#onStatus(msg)
      return
    }
    if (delivery.consumerSeq !== this.#consumerSeq + 1) {
      this.#end('out of sequence')
      return
    }
    this.#consumerSeq = delivery.consumerSeq
    this.#pending = delivery.pending
    this.#requested -= 1
    this.#buffer.push(toLogMessage(msg, delivery))
    this.#request()
    this.#resume()
  }

  #onStatus(msg: Msg): void {
    const code = msg.headers?.code ?? 0
    if (code === 100) {
      const last = msg.headers?.get('Nats-Last-Consumer') ?? ''
      if (last !== '' && Number(last) !== this.#consumerSeq) this.#end('out of sequence')
      return
    }
    const expired =
      code === 404 || code === 408 || (code === 409 && /batch completed/i.test(msg.headers?.description ?? ''))
    if (!expired) {
      this.#end('consumer gone')
      return
    }
    this.#requested -= Number(msg.headers?.get('Nats-Pending-Messages') ?? 0)
    this.#request()
  }

  /** Asks for as much as there is room for, in portions of at least half the buffer. */
  #request(): void {
    if (this.#ended !== undefined || this.#subscription === undefined) return
    const { stream, capacity } = this.#options
    const room = capacity - this.#buffer.length - this.#requested
    if (room < capacity / 2) return
    this.#requested += room
    if (this.#requested === room) this.#lastHeard = performance.now()
    const request = { batch: room, expires: expiresMs * nanosPerMs, idle_heartbeat: heartbeatMs * nanosPerMs }
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${this.#consumer}`
    this.#bus.nats.publish(subject, jsonEncoder.encode(JSON.stringify(request)), { reply: this.#inbox })
  }

  #checkSilence(): void {
    if (this.#requested > 0 && performance.now() - this.#lastHeard > silentAfterMs) this.#end('silent')
  }

  #resume(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  #end(reason: SessionEnd): void {
    if (this.#ended !== undefined) return
    this.#ended = reason
    clearInterval(this.#watchdog)
    this.#offConnection?.()
    const wasReading = this.#subscription !== undefined
    this.#subscription?.unsubscribe()
    if (wasReading && reason !== 'disconnected' && this.#bus.isConnected()) {
      // The server would forget it by itself after a minute.
      void this.#bus.manager.consumers.delete(this.#options.stream, this.#consumer).catch(() => undefined)
    }
    this.#resume()
  }
}
