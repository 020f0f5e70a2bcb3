import {
  STREAMS,
  type LogMessage,
  type LoggedChange,
  type StreamName,
  decodeChange,
  decodeOutcome,
  encodeIntent,
  partitionFilters,
  partitionOf,
} from '#libs/events'
import { type Bus, type Publisher, originOf, readLast, readOrdered } from '#libs/bus'
import type { Clock } from '#libs/kernel'
import type { DecisionKey, Projection } from '#libs/projection'
import type { Logger } from '#libs/telemetry'
import type { Vault } from '#libs/vault'
import { DECIDE_ORDER, type TenantContext } from '#libs/translation'
import { Alarm } from './alarm.ts'
import { KeyDecider } from './key-decider.ts'
import type { Cause } from './plan.ts'
import type { TranslatorMetrics } from './metrics.ts'

export type PartitionWorkerOptions = {
  partition: number
  partitions: number
  fence: number
  bus: Bus
  publisher: Publisher
  projection: Projection
  vault: Vault
  clock: Clock
  random: () => number
  logger: Logger
  metrics: TranslatorMetrics
  /** A registered tenant, `undefined` for one that is not (yet). */
  tenant(name: string): TenantContext | undefined
  tenants(): { name: string; uid: string }[]
  /** Stores how far a stream is processed, under the fence. Rejects when the partition has another owner. */
  storePosition(stream: StreamName, seq: number): Promise<void>
  signal: AbortSignal
}

/** Folds go into one transaction for this long: a commit per message would cost more than the message. */
const COMMIT_EVERY_MS = 100

/** Keys decided between two looks at the log, so that a sweep delays no live change by more than a few milliseconds. */
const SWEEP_SLICE = 50

/** Due keys taken at once. */
const DUE_LIMIT = 500

/**
 * Translates one partition: folds changes and outcomes into the projection, decides about the keys they touch and
 * publishes what follows. Everything happens in one order: fold, publish, await the acks, commit with the position. A
 * crash between any two steps repeats the same decisions under the same message ids.
 */
export class PartitionWorker {
  readonly #options: PartitionWorkerOptions
  readonly #decider: KeyDecider
  readonly #alarm: Alarm
  readonly #outstanding = new Set<Promise<unknown>>()
  readonly #sweep: DecisionKey[] = []
  readonly #failure = Promise.withResolvers<never>()
  #turn: Promise<unknown> = Promise.resolve()
  #commitAt: number | undefined
  #caughtUp = false
  #pending: () => number = () => Number.POSITIVE_INFINITY

  constructor(options: PartitionWorkerOptions) {
    this.#options = options
    this.#decider = new KeyDecider(options)
    this.#alarm = new Alarm(options.clock, () => this.#inTurn(() => this.#wake()))
  }

  /** Whether everything in the log has been taken in once. */
  get caughtUp(): boolean {
    return this.#caughtUp
  }

  /** Messages of the log that are not processed yet. */
  get lag(): number {
    return this.#pending()
  }

  /** Runs until the signal aborts or something fails. */
  async run(): Promise<void> {
    const { projection, signal } = this.#options
    if (projection.fresh) await this.#fill()
    for (const tenant of this.#options.tenants()) this.takeTenant(tenant)
    const changes = this.#read(STREAMS.changes)
    const outcomes = this.#read(STREAMS.outcomes)
    this.#pending = () => changes.reader.pending + outcomes.reader.pending
    this.#alarm.set(this.#options.clock.now())
    try {
      await Promise.race([Promise.all([changes.done, outcomes.done]), this.#failure.promise])
      await this.#turn
      if (signal.aborted) await this.#commit()
    } finally {
      this.#alarm.close()
    }
  }

  /** Takes a registered tenant in: every object of it is decided about, in slices between live changes. */
  takeTenant(tenant: { name: string; uid: string }): void {
    const { projection, clock, partition, partitions } = this.#options
    if (partitionOf(tenant.name, partitions) !== partition) return
    projection.bindTenant(tenant.name, tenant.uid)
    this.#sweep.push(...projection.keysOf(tenant.name))
    this.#alarm.set(clock.now())
  }

  /** Fills an empty projection from STATE and takes over the positions that it stands for. */
  async #fill(): Promise<void> {
    const { bus, partition, projection, signal, logger, clock } = this.#options
    const startedAt = clock.now()
    const filterSubjects = [...partitionFilters('change', partition), ...partitionFilters('outcome', partition)]
    const reached = new Map<string, number>()
    let messages = 0
    for await (const batch of readLast(bus, { stream: STREAMS.state, filterSubjects, signal })) {
      for (const message of batch) {
        const origin = originOf(message)
        if (origin === undefined) continue
        reached.set(origin.stream, Math.max(reached.get(origin.stream) ?? 0, origin.seq))
        this.#fold(origin.stream === STREAMS.changes ? 'change' : 'outcome', { ...message, seq: origin.seq })
        messages++
      }
    }
    for (const stream of [STREAMS.changes, STREAMS.outcomes]) projection.setPosition(stream, reached.get(stream) ?? 0)
    projection.markFilled()
    projection.commit()
    logger.info({ partition, messages, durMs: clock.now() - startedAt }, 'projection filled')
  }

  #read(stream: StreamName) {
    const { bus, partition, projection, signal, logger } = this.#options
    const type = stream === STREAMS.changes ? 'change' : 'outcome'
    const reader = readOrdered(bus, {
      stream,
      filterSubjects: partitionFilters(type, partition),
      startSeq: projection.position(stream) + 1,
      signal,
      onGap: (gap) => {
        // The history no longer reaches back to the position: only STATE knows what was missed.
        logger.error({ partition, ...gap }, 'the log was truncated; the projection is built again')
        this.#failure.reject(new ProjectionOutdated(`${gap.stream} is missing messages from ${gap.from} on`))
      },
      onInterruption: (reason) => logger.warn({ partition, stream, reason }, 'reading interrupted'),
    })
    const consume = async (): Promise<void> => {
      for await (const batch of reader) await this.#inTurn(() => this.#take(stream, type, batch))
    }
    if (stream === STREAMS.changes) {
      void reader.caughtUp.then(() => {
        this.#caughtUp = true
      })
    }
    return { reader, done: consume() }
  }

  /** One thing at a time: folds, decisions and commits of both streams and of the alarm take turns. */
  #inTurn(step: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(() => (this.#options.signal.aborted ? undefined : step()))
    this.#turn = turn.catch((error: unknown) => this.#failure.reject(error))
    return turn
  }

  async #take(stream: StreamName, type: 'change' | 'outcome', batch: LogMessage[]): Promise<void> {
    const touched = new Map<string, { key: DecisionKey; cause: Cause }>()
    for (const message of batch) {
      const folded = this.#fold(type, message)
      for (const key of folded.keys) touched.set(keyId(key), { key, cause: folded.cause })
    }
    const last = batch.at(-1)
    await this.#decide([...touched.values()])
    if (last !== undefined) this.#options.projection.setPosition(stream, last.seq)
    const now = this.#options.clock.now()
    this.#commitAt ??= now + COMMIT_EVERY_MS
    if (now >= this.#commitAt) await this.#commit()
    else this.#alarm.set(this.#commitAt)
  }

  #fold(type: 'change' | 'outcome', message: LogMessage): { keys: DecisionKey[]; cause: Cause } {
    const { projection, logger, metrics, partition } = this.#options
    try {
      if (type === 'outcome') {
        const outcome = decodeOutcome(message)
        return { keys: this.#decider.settle(outcome), cause: this.#ownCause() }
      }
      const change = decodeChange(message)
      const keys = projection.fold(change)
      this.#decider.saw(change)
      metrics.folded(change.key.side, change.key.resource)
      return { keys, cause: causeOf(change) }
    } catch (error) {
      // Skipped for good and told: one message that cannot be read must not stop all others.
      metrics.poison('fold')
      logger.error({ partition, seq: message.seq, subject: message.subject, err: error }, 'message cannot be read')
      return { keys: [], cause: this.#ownCause() }
    }
  }

  async #decide(touched: { key: DecisionKey; cause: Cause }[]): Promise<void> {
    const { publisher, partition, projection } = this.#options
    const acks = new Map<string, Promise<unknown>>()
    for (const { key, cause } of inOrder(touched)) {
      for (const intent of this.#decider.decide(key, cause)) {
        // What it needs is in the log before it, whatever has to be sent again.
        const needed = intent.needs.flatMap(
          (ref) => acks.get(`${ref.side}/${ref.resource}/${ref.namespace}/${ref.name}`) ?? [],
        )
        if (needed.length > 0) await Promise.all(needed)
        await publisher.ready()
        const ack = publisher.publish(encodeIntent(intent, partition))
        const { target } = intent
        acks.set(`${target.side}/${target.resource}/${target.namespace}/${target.name}`, ack)
        this.#outstanding.add(ack)
        ack.then(
          () => this.#outstanding.delete(ack),
          (error: unknown) => this.#failure.reject(error),
        )
      }
    }
    const due = projection.pending.nextDue()
    if (due !== undefined) this.#alarm.set(due)
  }

  /** Due keys, a slice of the sweep, and the commit. */
  async #wake(): Promise<void> {
    const { clock, projection, tenant } = this.#options
    const now = clock.now()
    const due = projection.pending.due(now, DUE_LIMIT).filter((key) => tenant(key.tenant) !== undefined)
    const keys = [...due, ...this.#sweep.splice(0, SWEEP_SLICE)]
    if (keys.length > 0) {
      await this.#decide(keys.map((key) => ({ key, cause: this.#ownCause() })))
      this.#commitAt ??= now + COMMIT_EVERY_MS
    }
    if (this.#sweep.length > 0) this.#alarm.set(now)
    if (this.#commitAt === undefined) return
    if (clock.now() >= this.#commitAt) await this.#commit()
    else this.#alarm.set(this.#commitAt)
  }

  /** Acks first, then the commit, then the position for others to see. */
  async #commit(): Promise<void> {
    const { projection, storePosition } = this.#options
    await Promise.all(this.#outstanding)
    projection.commit()
    this.#commitAt = undefined
    await Promise.all(
      [STREAMS.changes, STREAMS.outcomes].map((stream) => storePosition(stream, projection.position(stream))),
    )
  }

  /** The cause of what no change caused: a retry that is due, a sweep, an outcome. */
  #ownCause(): Cause {
    const now = this.#options.clock.now()
    return { seq: this.#options.projection.position(STREAMS.changes), observedAt: now, loggedAt: now }
  }
}

/** The projection's position is older than the log: it must be filled from STATE. */
export class ProjectionOutdated extends Error {}

function causeOf(change: LoggedChange): Cause {
  const { seq, observedAt, storedAt, traceparent } = change
  return { seq, observedAt, loggedAt: storedAt, ...(traceparent === undefined ? {} : { traceparent }) }
}

/** What others need comes first. */
function inOrder<T extends { key: DecisionKey }>(touched: T[]): T[] {
  const rank = (item: T): number => DECIDE_ORDER.indexOf(item.key.ref.resource)
  return touched.toSorted((a, b) => rank(a) - rank(b))
}

function keyId(key: DecisionKey): string {
  return `${key.tenant}/${key.ref.resource}/${key.ref.namespace}/${key.ref.name}`
}
