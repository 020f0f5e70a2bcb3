import {
  type Bus,
  type Lease,
  type OrderedReader,
  type Positions,
  type Publisher,
  lastSequence,
  readOrdered,
} from '#libs/bus'
import { type LogMessage, type LoggedIntent, STREAMS, decodeIntent, partitionFilters } from '#libs/events'
import { type Clock, type Pacer, createPacer, errorMessage } from '#libs/kernel'
import { keyString } from '#libs/kube-model'
import type { Logger, Tracing } from '#libs/telemetry'
import { AcceptedOrder } from './accepted-order.ts'
import type { CallSample } from './adaptive-limit.ts'
import type { ApiGate, Job } from './api-gate.ts'
import type { ApiGates } from './api-gates.ts'
import type { Availability } from './availability.ts'
import type { Capacity } from './capacity.ts'
import { type Progress, carryOut, notRegistered } from './carry-out.ts'
import { readEarlierOutcomes, settledKey } from './earlier-outcomes.ts'
import { refusal } from './guard.ts'
import type { HostPulse } from './host-pulse.ts'
import type { WriterLimits } from './limits.ts'
import type { WriterMetrics } from './metrics.ts'
import { NodeHeartbeats } from './node-heartbeats.ts'
import { OutcomeLog } from './outcome-log.ts'
import type { Opener, TenantDirectory } from './ports.ts'
import { PositionKeeper } from './position-keeper.ts'
import { type Settled, parked } from './result.ts'
import { type ResumePoint, Settlement } from './settlement.ts'
import { TargetQueue } from './target-queue.ts'
import { TokenKeeper } from './token-keeper.ts'
import { urgencyOf } from './urgency.ts'

export type PartitionWorkerOptions = {
  partition: number
  fence: number
  lease: Pick<Lease, 'isHeld' | 'signal'>
  /** Aborts when the lease is lost or the role stops. */
  signal: AbortSignal
  bus: Bus
  publisher: Publisher
  positions: Positions<ResumePoint>
  directory: TenantDirectory
  vault: Opener
  gates: ApiGates
  capacity: Capacity
  /** Tenants of the partition. */
  tenants(): string[]
  pulse: Pick<HostPulse, 'isReachable'>
  limits: WriterLimits
  clock: Clock
  /** Shared by all partitions of the process. @default one of its own */
  pacer?: Pacer
  random: () => number
  logger: Logger
  metrics: WriterMetrics
  /** @default none */
  tracing?: Tracing
}

/** An intent that is held. */
type Item = Progress & {
  /** Its place at a gate, while it waits there. */
  waiting?: { gate: ApiGate; job: Job }
}

/**
 * Carries out the intents of one partition: each once, in order per target, fairly among tenants, and settles each with
 * an outcome. The resume point moves when outcomes are stored, never before; what is carried out again after a crash
 * changes nothing.
 */
export class PartitionWorker {
  readonly #options: PartitionWorkerOptions
  readonly #pacer: Pacer
  readonly #queue = new TargetQueue<Item>()
  readonly #accepted = new AcceptedOrder()
  readonly #items = new Set<Item>()
  readonly #perTenant = new Map<string, number>()
  readonly #underWay = new Set<Promise<unknown>>()
  /** Breaks calls off: the lease is lost, or the time to finish them is over. */
  readonly #hardStop = new AbortController()
  readonly #heartbeats: NodeHeartbeats
  readonly #tokens: TokenKeeper
  /**
   * What could be carried out but for what may follow it in the log; undefined once all is taken in that was there when
   * the partition was taken. The owner before may have carried out all of that: were it carried out from the beginning,
   * what the last of it made would be taken back for a while.
   */
  #early: Set<Item> | undefined = new Set()
  #reader: OrderedReader | undefined
  #caughtUp = false

  constructor(options: PartitionWorkerOptions) {
    this.#options = options
    this.#pacer = options.pacer ?? createPacer()
    const { lease, directory, pulse, metrics, limits } = options
    this.#heartbeats = new NodeHeartbeats({
      ...options,
      signal: AbortSignal.any([options.signal, this.#hardStop.signal]),
      client: (tenant) => directory.tenant(tenant)?.client,
      mayBeat: async () => lease.isHeld() && (await pulse.isReachable()) && lease.isHeld(),
      everyMs: limits.heartbeatMs,
      counted: (result) => metrics.heartbeat(result),
    })
    this.#tokens = new TokenKeeper({
      ...options,
      signal: AbortSignal.any([options.signal, this.#hardStop.signal]),
      mayWrite: () => lease.isHeld(),
      counted: (result) => metrics.tokens(result),
    })
  }

  /** Whether everything in the log has been taken in once. */
  get caughtUp(): boolean {
    return this.#caughtUp
  }

  /** Intents that are not settled yet, read or not. */
  get lag(): number {
    const unread = this.#reader?.pending ?? 0
    return (Number.isFinite(unread) ? unread : 0) + this.#items.size
  }

  /** Intents that are not settled, by tenant. */
  get held(): ReadonlyMap<string, number> {
    return this.#perTenant
  }

  /** Runs until the signal aborts or something fails; then what is under way is finished, within limits. */
  async run(): Promise<void> {
    const { lease, signal, bus, partition } = this.#options
    const onLost = (): void => this.#hardStop.abort(lease.signal.reason)
    lease.signal.addEventListener('abort', onLost, { once: true })
    const ended = new AbortController()
    const running = AbortSignal.any([signal, ended.signal])
    const failure = Promise.withResolvers<never>()
    let settlement: Settlement | undefined
    const keeper = this.#keeper(() => settlement?.resumePoint())
    let outcomes: OutcomeLog | undefined
    void this.#heartbeats.run()
    void this.#tokens.run()
    try {
      const from = await keeper.claim()
      settlement = new Settlement(from)
      outcomes = this.#outcomeLog(settlement, failure.reject)
      const earlier = await readEarlierOutcomes(bus, { partition, after: from.outcomeSeq, signal })
      const reading = this.#read(from, { settlement, outcomes, earlier, signal: running })
      await Promise.race([reading, keeper.run(running), failure.promise])
      await reading
    } finally {
      ended.abort()
      this.#withdrawAll()
      await this.#drain(outcomes)
      if (!this.#hardStop.signal.aborted) await this.#storePosition(keeper)
      this.#hardStop.abort(new Error('the work on the partition has ended'))
      lease.signal.removeEventListener('abort', onLost)
      for (const item of this.#items) this.#release(item)
    }
  }

  #keeper(point: () => ResumePoint | undefined): PositionKeeper {
    const { positions, partition, fence, clock, limits } = this.#options
    return new PositionKeeper({
      positions,
      key: `writer.${partition}`,
      fence,
      clock,
      everyMs: limits.positionEveryMs,
      point,
    })
  }

  #outcomeLog(settlement: Settlement, onFailure: (error: unknown) => void): OutcomeLog {
    return new OutcomeLog({ ...this.#options, settlement, onFailure, signal: this.#hardStop.signal })
  }

  async #read(
    from: ResumePoint,
    deps: { settlement: Settlement; outcomes: OutcomeLog; earlier: Set<string>; signal: AbortSignal },
  ): Promise<void> {
    const { bus, partition, capacity, logger } = this.#options
    const reader = readOrdered(bus, {
      stream: STREAMS.intents,
      filterSubjects: partitionFilters('intent', partition),
      startSeq: from.seq + 1,
      signal: deps.signal,
      onGap: (gap) => {
        logger.warn({ partition, ...gap }, 'intents are missing from the log; what they were about is decided again')
      },
      onInterruption: (reason) => logger.warn({ partition, reason }, 'reading interrupted'),
    })
    this.#reader = reader
    const end = await lastSequence(bus, STREAMS.intents)
    void reader.caughtUp.then(() => {
      this.#caughtUp = true
      deps.earlier.clear()
      this.#submitEarly(deps.outcomes)
    })
    for await (const batch of reader) {
      for (const message of batch) {
        if (capacity.isUsedUp) this.#submitEarly(deps.outcomes)
        await capacity.room(deps.signal)
        if (deps.signal.aborted) return
        this.#take(message, deps)
        const pause = this.#pacer.pause()
        if (pause !== undefined) await pause
        if (message.seq >= end) this.#submitEarly(deps.outcomes)
      }
    }
  }

  #take(message: LogMessage, deps: { settlement: Settlement; outcomes: OutcomeLog; earlier: Set<string> }): void {
    const { logger, partition } = this.#options
    deps.settlement.open(message.seq)
    let intent: LoggedIntent
    try {
      intent = decodeIntent(message)
    } catch (error) {
      logger.error({ partition, seq: message.seq, err: error }, 'intent cannot be read; it is parked')
      deps.outcomes.poison(message, errorMessage(error))
      return
    }
    if (deps.earlier.delete(settledKey(intent.id, intent.storedAt))) {
      deps.settlement.settle(message.seq)
      return
    }
    const objection = this.#objection(intent)
    if (objection === undefined) this.#hold(intent, deps.outcomes)
    else deps.outcomes.settled(intent, objection)
  }

  /** What speaks against an intent before it is queued. */
  #objection(intent: LoggedIntent): Settled | undefined {
    const { directory, limits, logger } = this.#options
    const { target } = intent
    const route = directory.tenant(target.tenant)
    if (route === undefined) return notRegistered(target.tenant)
    const refused = refusal(intent, route)
    if (refused !== undefined) {
      logger.error({ target, rule: intent.rule, reason: refused.reason, why: refused.message }, 'intent refused')
      return refused
    }
    if (!this.#accepted.accept(keyString(target), intent)) {
      return { result: 'superseded', message: 'it was decided before what has been accepted for this target' }
    }
    if ((this.#perTenant.get(target.tenant) ?? 0) >= limits.maxPerTenant) {
      return parked('ApiUnavailable', `${limits.maxPerTenant} writes of this tenant are waiting already`)
    }
    return undefined
  }

  #hold(intent: LoggedIntent, outcomes: OutcomeLog): void {
    const item: Item = { intent, failures: 0 }
    const { tenant } = intent.target
    this.#items.add(item)
    this.#perTenant.set(tenant, (this.#perTenant.get(tenant) ?? 0) + 1)
    this.#options.capacity.take()
    const { superseded, ready } = this.#queue.add(item)
    for (const older of superseded) {
      older.waiting?.gate.withdraw(older.waiting.job)
      this.#settle(
        older,
        { result: 'superseded', message: 'a newer write for the same target took its place' },
        outcomes,
      )
    }
    for (const next of ready) this.#submit(next, outcomes)
  }

  #submitEarly(outcomes: OutcomeLog): void {
    const early = this.#early ?? []
    this.#early = undefined
    for (const item of early) if (this.#queue.has(item)) this.#submit(item, outcomes)
  }

  #submit(item: Item, outcomes: OutcomeLog): void {
    const { gates, directory, signal } = this.#options
    if (signal.aborted) return
    if (this.#early !== undefined) {
      this.#early.add(item)
      return
    }
    const { target, write } = item.intent
    const { side, tenant } = target
    const client = side === 'host' ? directory.host() : directory.tenant(tenant)?.client
    const { gate, availability } = gates.of({ side, tenant, origin: client?.origin })
    const run = (): Promise<CallSample | undefined> => {
      delete item.waiting
      const attempt = this.#attempt(item, availability, outcomes)
      this.#underWay.add(attempt)
      return attempt.finally(() => this.#underWay.delete(attempt))
    }
    const job: Job = { tenant, side, urgency: urgencyOf(write), run }
    item.waiting = { gate, job }
    gate.submit(job)
  }

  async #attempt(item: Item, availability: Availability, outcomes: OutcomeLog): Promise<CallSample | undefined> {
    const { step, sample } = await carryOut(item, availability, {
      ...this.#options,
      stop: this.#options.signal,
      hardStop: this.#hardStop.signal,
      onCall: () => this.#queue.start(item),
    })
    if (step === 'left') return sample
    if ('settle' in step) this.#settle(item, step.settle, outcomes)
    else this.#retryLater(item, step.retryInMs, outcomes)
    return sample
  }

  #retryLater(item: Item, ms: number, outcomes: OutcomeLog): void {
    this.#queue.postpone(item)
    void this.#options.clock.sleep(ms, this.#hardStop.signal).then(
      () => {
        if (this.#queue.has(item)) this.#submit(item, outcomes)
      },
      () => undefined,
    )
  }

  #settle(item: Item, settled: Settled, outcomes: OutcomeLog): void {
    const ready = this.#queue.settle(item)
    this.#release(item)
    outcomes.settled(item.intent, settled, { startedAt: item.startedAt, exchanges: item.exchanges?.exchanges })
    this.#notice(item.intent, settled)
    for (const next of ready) this.#submit(next, outcomes)
  }

  #notice({ target, write }: LoggedIntent, { result, uid = '' }: Settled): void {
    // They may be there although the pod could not be made.
    if (write.op === 'create' && write.tokens !== undefined) this.#tokens.made(target.tenant)
    if (result !== 'done' || target.side !== 'virtual' || target.resource !== 'nodes') return
    if (write.op === 'create') this.#heartbeats.made(target.tenant, { name: target.name, uid })
    if (write.op === 'delete') this.#heartbeats.gone(target.tenant, target.name)
  }

  /** What has not begun is left to the next owner. */
  #withdrawAll(): void {
    for (const { waiting } of this.#items) waiting?.gate.withdraw(waiting.job)
  }

  /** Lets calls that are under way come to their end, and stores what they came to. */
  async #drain(outcomes: OutcomeLog | undefined): Promise<void> {
    const { limits, clock } = this.#options
    const over = new AbortController()
    const patience = clock.sleep(limits.drainMs, AbortSignal.any([this.#hardStop.signal, over.signal]))
    const calls = Promise.allSettled(this.#underWay).then(() => outcomes?.flush())
    await Promise.race([calls, patience.catch(() => undefined)])
    over.abort()
  }

  async #storePosition(keeper: PositionKeeper): Promise<void> {
    const { logger, partition } = this.#options
    await keeper
      .store()
      .catch((error: unknown) => logger.warn({ partition, err: error }, 'position could not be stored'))
  }

  #release(item: Item): void {
    if (!this.#items.delete(item)) return
    const { tenant } = item.intent.target
    const left = (this.#perTenant.get(tenant) ?? 1) - 1
    if (left > 0) this.#perTenant.set(tenant, left)
    else this.#perTenant.delete(tenant)
    this.#options.capacity.give()
  }
}
