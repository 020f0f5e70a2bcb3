import { lastSequence } from '#libs/bus'
import { DEFAULT_DELETION_LIMITS } from '#libs/config'
import { type Intent, type LogMessage, STREAMS, type StreamName, partitionOf } from '#libs/events'
import { type Pacer, createPacer, errorMessage } from '#libs/kernel'
import { Alarm } from './alarm.ts'
import { Batch } from './batch.ts'
import { Committer } from './committer.ts'
import { DeletionGuard, type HoldBoard } from './deletion-guard.ts'
import { fillProjection } from './fill-projection.ts'
import { FollowedStream } from './followed-stream.ts'
import { IntentLog } from './intent-log.ts'
import { DroppedWritesKeeper } from './dropped-writes.ts'
import { KeyDecider } from './key-decider.ts'
import { MessageFolder } from './message-folder.ts'
import { OperatorsOrders } from './operators-orders.ts'
import type { Cause } from './plan.ts'
import { Patrol } from './patrol.ts'
import { PositionReport } from './position-report.ts'
import { Reports } from './reports.ts'
import { Sweeps } from './sweeps.ts'
import { Takeover } from './takeover.ts'
import { TellingBudget } from './telling-budget.ts'
import { Turns } from './turns.ts'
import { unlessAborted } from './unless-aborted.ts'
import { Upkeep } from './upkeep.ts'
import type { PartitionWorkerOptions } from './worker-options.ts'

/** Keys decided between two looks at the log, so that a sweep delays no live change by more than a few milliseconds. */
export const SWEEP_SLICE = 20

/** The same, of what was touched before anything could be decided. */
const TAKEOVER_SLICE = 100

/** How often every object is decided about again, whether or not anything told of a change. */
const PATROL_EVERY_MS = 600_000

/** Due keys taken at once. */
const DUE_LIMIT = 500

/** How soon what tenants are to be told and was too much for a while is looked at again. */
const TELL_AGAIN_MS = 500

/** How long a step may take to come to its end when the work is to stop. */
const DRAIN_MS = 2_000

/**
 * Translates one partition: folds changes and outcomes into the projection, decides about the keys they touch and
 * publishes what follows. Everything happens in one order: fold, publish, await the acks, commit with the position. A
 * crash between any two steps repeats the same decisions under the same message ids.
 */
export class PartitionWorker {
  readonly #options: PartitionWorkerOptions
  readonly #pacer: Pacer
  readonly #decider: KeyDecider
  readonly #guard: DeletionGuard
  readonly #intents: IntentLog
  readonly #alarm: Alarm
  readonly #report: PositionReport
  readonly #commits: Committer
  readonly #sweeps: Sweeps
  readonly #folder: MessageFolder
  readonly #patrol: Patrol
  readonly #upkeep: Upkeep
  /** What operators ask for. */
  readonly orders: OperatorsOrders
  readonly #takeover = new Takeover([STREAMS.changes, STREAMS.outcomes])
  readonly #takenOver = Promise.withResolvers<void>()
  readonly #failure = Promise.withResolvers<never>()
  /** Resolves when the work has ended, for whatever reason. */
  readonly #over = Promise.withResolvers<undefined>()
  /** Steps that fold, decide and commit, of both streams and of the alarm. */
  readonly #turns = new Turns((error) => this.#failure.reject(error))
  /** Ends the reading, when the work ends for whatever reason. */
  readonly #ended = new AbortController()
  /** Breaks off a step that waits. */
  readonly #interrupted = new AbortController()
  #streams: FollowedStream[] = []
  /** When the first key is due, as of the last decisions; undefined when none is, or not known. */
  #dueAt: number | undefined
  #patrolAt: number
  #caughtUp = false

  constructor(options: PartitionWorkerOptions) {
    this.#options = options
    this.#pacer = options.pacer ?? createPacer()
    this.#failure.promise.catch(() => undefined)
    this.#guard = new DeletionGuard({
      ...options,
      limits: options.deletions ?? DEFAULT_DELETION_LIMITS,
      board: options.holds ?? NOWHERE,
    })
    const dropped = new DroppedWritesKeeper(options.projection, options.dropped ?? NO_MARKS)
    const budget = new TellingBudget()
    this.#decider = new KeyDecider({ ...options, guard: this.#guard, dropped, budget })
    this.#sweeps = new Sweeps(options.projection)
    this.#folder = new MessageFolder({
      ...options,
      decider: this.#decider,
      reports: new Reports({ ...options, budget }),
      ownCause: (seq) => this.#ownCause(seq),
      onSweep: (sweep) => {
        this.#sweeps.add(sweep)
        this.#alarm.set(options.clock.now())
      },
    })
    this.#patrol = new Patrol(options)
    this.orders = new OperatorsOrders({
      dropped,
      patrol: this.#patrol,
      tenants: () => this.#ownTenants(),
      ordered: (step) => this.#ordered(step),
      over: this.#over.promise,
      signal: this.#interrupted.signal,
    })
    this.#upkeep = new Upkeep({
      ...options,
      streams: () => this.#streams,
      inTurn: (step) => this.#turns.take(step),
      onChange: () => this.#commits.soon(),
    })
    this.#patrolAt = options.clock.now() + this.#patrolEveryMs
    this.#intents = new IntentLog({
      ...options,
      onRefused: (intent, error) => void this.#turns.take(() => this.#refused(intent, error)),
      onDoubled: (intent) => void this.#turns.take(() => this.#doubled(intent)),
      onFailure: (error) => this.#failure.reject(error),
    })
    this.#report = new PositionReport({
      clock: options.clock,
      store: options.storePosition,
      onFailure: (error) => this.#failure.reject(error),
    })
    this.#alarm = new Alarm(options.clock, () => this.#turns.take(() => this.#wake()))
    this.#commits = new Committer({
      ...options,
      intents: this.#intents,
      report: this.#report,
      alarm: this.#alarm,
      signal: this.#interrupted.signal,
    })
  }

  /** Whether everything in the log has been taken in once. */
  get caughtUp(): boolean {
    return this.#caughtUp
  }

  /** Messages of the log that are not processed yet. */
  get lag(): number {
    return this.#streams.reduce((sum, stream) => sum + stream.pending, 0)
  }

  /**
   * Runs until the signal aborts, and then leaves all that was done committed.
   * @throws ProjectionOutdated, and whatever fails; what was not committed is to be abandoned then
   */
  async run(): Promise<void> {
    const { signal, clock } = this.#options
    const onAbort = (): void => {
      void clock.sleep(DRAIN_MS, this.#interrupted.signal).then(
        () => this.#interrupted.abort(signal.reason),
        () => undefined,
      )
    }
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    try {
      await Promise.race([this.#turns.take(() => this.#begin()), this.#failure.promise])
      this.#alarm.set(clock.now())
      await Promise.race([Promise.all(this.#streams.map(({ done }) => done)), this.#failure.promise])
      await Promise.race([this.#turns.take(() => this.#finish()), this.#failure.promise])
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#alarm.close()
      this.#ended.abort(new Error('the work on the partition has ended'))
      this.#interrupted.abort(this.#ended.signal.reason)
      this.#over.resolve(undefined)
      await this.#turns.close()
    }
  }

  /** Takes a registered tenant in: every object of it is decided about, in slices between live changes. */
  takeTenant(tenant: { name: string; uid: string }): void {
    void this.#turns.take(() => this.#bind(tenant))
  }

  /** Follows a tenant's objects no more. @param uid of the registration that has ended: one after it may have begun */
  forgetTenant(name: string, uid?: string): void {
    void this.#turns.take(() => {
      this.#guard.forget(name)
      this.#options.projection.forgetTenant(name, uid)
    })
  }

  /** Tenants whose deletions are stopped. */
  get holding(): number {
    return this.#guard.holding
  }

  /** Lets a tenant's stopped deletions go, see `DeletionGuard.confirm`. Resolves when that is committed. */
  confirmDeletions(tenant: string, since: number): Promise<void> {
    return this.#turns.take(async () => {
      const batch = new Batch()
      batch.add(this.#guard.confirm(tenant, since), this.#ownCause())
      await this.#decide(batch)
      await this.#commits.now()
    })
  }

  /** A step that an operator ordered, once the partition is taken over, with what follows from it committed. */
  async #ordered<T>(step: () => T | Promise<T>): Promise<T | undefined> {
    await Promise.race([this.#takenOver.promise, this.#over.promise])
    let result: T | undefined
    await this.#turns.take(async () => {
      const value = await step()
      this.#dueAt = undefined
      this.#alarm.set(this.#options.clock.now())
      await this.#commits.now()
      result = value
    })
    return result
  }

  async #begin(): Promise<void> {
    const { projection, tenants } = this.#options
    const isFresh = projection.fresh
    await this.#requireSameLog()
    if (isFresh) await this.#fill()
    projection.retainTenants(new Set(tenants().map(({ name }) => name)))
    for (const tenant of tenants()) this.#bind(tenant)
    for (const stream of [STREAMS.changes, STREAMS.outcomes]) {
      this.#takeover.endsAt(stream, await lastSequence(this.#options.bus, stream))
    }
    this.#streams = [STREAMS.changes, STREAMS.outcomes].map((stream) => this.#follow(stream, isFresh))
    for (const { stream, caughtUp } of this.#streams) {
      void caughtUp.then(() => this.#turns.take(() => this.#reached(stream, Number.POSITIVE_INFINITY)))
    }
    void this.#streams[0]?.caughtUp.then(() => {
      this.#caughtUp = true
    })
  }

  #bind(tenant: { name: string; uid: string }): void {
    const { projection, clock, partition, partitions } = this.#options
    if (partitionOf(tenant.name, partitions) !== partition) return
    projection.bindTenant(tenant.name, tenant.uid)
    this.#guard.restore(tenant.name)
    this.#sweeps.add({ tenant: tenant.name })
    this.#alarm.set(clock.now())
  }

  /** @throws ProjectionOutdated when what was folded in came from a log that is no more, however long the new one is */
  async #requireSameLog(): Promise<void> {
    const { bus, projection, partition, logger } = this.#options
    const { created } = await bus.manager.streams.info(STREAMS.changes)
    if (projection.log === created) return
    if (!projection.fresh && projection.log !== undefined) {
      logger.error({ partition, kind: 'another' }, 'the log was truncated; the projection is built again')
      throw new ProjectionOutdated(`${STREAMS.changes} is another stream than before`)
    }
    projection.setLog(created)
  }

  async #fill(): Promise<void> {
    const { projection, partition, signal, logger, clock } = this.#options
    const startedAt = clock.now()
    const fold = (stream: StreamName, message: LogMessage): void => this.#folder.fold(stream, message, new Batch())
    const messages = await fillProjection(projection, { ...this.#options, pacer: this.#pacer, signal, fold })
    logger.info({ partition, messages, durMs: clock.now() - startedAt }, 'projection filled')
  }

  #follow(stream: StreamName, isFresh: boolean): FollowedStream {
    const { partition, projection, signal, logger } = this.#options
    return new FollowedStream({
      ...this.#options,
      stream,
      isFresh,
      position: projection.position(stream),
      signal: AbortSignal.any([signal, this.#ended.signal]),
      take: (messages) => this.#turns.take(() => this.#take(stream, messages)),
      onMissed: (gap) => {
        // The history no longer reaches back to the position: only STATE knows what was missed.
        logger.error({ partition, ...gap }, 'the log was truncated; the projection is built again')
        this.#failure.reject(new ProjectionOutdated(`${gap.stream} is missing messages from ${gap.from} on`))
      },
      onInterruption: (reason) => logger.warn({ partition, stream, reason }, 'reading interrupted'),
    })
  }

  async #take(stream: StreamName, messages: LogMessage[]): Promise<void> {
    await this.#commits.ifDue()
    const batch = new Batch()
    for (const message of messages) {
      this.#folder.fold(stream, message, batch)
      const pause = this.#pacer.pause()
      if (pause !== undefined) await pause
    }
    const last = messages.at(-1)
    if (this.#takeover.isOver) await this.#decide(batch)
    else {
      await this.#announce(batch)
      this.#takeover.keep(batch)
    }
    if (last !== undefined) {
      this.#options.projection.setPosition(stream, last.seq)
      this.#reached(stream, last.seq)
    }
    this.#commits.soon()
  }

  #reached(stream: StreamName, seq: number): void {
    if (!this.#takeover.reached(stream, seq)) return
    this.#takenOver.resolve()
    this.#alarm.set(this.#options.clock.now())
  }

  async #announce({ announcements }: Batch): Promise<void> {
    for (const intent of announcements) await this.#intents.publish(intent, this.#interrupted.signal)
  }

  /** @returns the intents that followed */
  async #decide(batch: Batch): Promise<Intent[]> {
    const { signal } = this.#interrupted
    const intents: Intent[] = []
    await this.#announce(batch)
    for (const { key, cause } of batch.inOrder()) {
      for (const intent of this.#decider.decide(key, cause)) {
        await this.#intents.publish(intent, signal, cause.earlier)
        intents.push(intent)
      }
      const pause = this.#pacer.pause()
      if (pause !== undefined) await pause
    }
    this.#dueAt = this.#options.projection.pending.nextDue()
    if (this.#dueAt !== undefined) this.#alarm.set(this.#dueAt)
    if (this.#decider.announcer.isHolding) this.#alarm.set(this.#options.clock.now() + TELL_AGAIN_MS)
    return intents
  }

  /** Due keys, a slice of the sweeps, and what is to be done now and then. */
  async #wake(): Promise<void> {
    const { clock, projection } = this.#options
    const now = clock.now()
    if (!this.#takeover.isOver) return this.#commits.ifDue()
    const batch = new Batch()
    batch.announcements.push(...this.#decider.announcer.due())
    if (now >= (this.#dueAt ?? now)) batch.add(projection.pending.due(now, DUE_LIMIT), this.#ownCause())
    // After the others: what a change has touched is decided about with that change for a cause, as it was before.
    if (this.#takeover.isEmpty) this.#addSlice(batch, this.#sweeps)
    else for (const { key, cause } of this.#takeover.take(TAKEOVER_SLICE)) batch.add([key], cause)
    await this.#decide(batch)
    if (!batch.isEmpty) this.#commits.soon()
    if (now >= this.#patrolAt) {
      this.#patrolAt = now + this.#patrolEveryMs
      this.#patrol.goRound(this.#ownTenants())
    }
    // What is missing after a start is no drift: the patrol goes on when the sweeps have ended.
    if (this.#sweeps.isEmpty && !this.#patrol.isEmpty) {
      const slice = new Batch()
      this.#addSlice(slice, this.#patrol)
      this.#patrol.decided(await this.#decide(slice))
      if (!slice.isEmpty) this.#commits.soon()
    }
    if (!this.#takeover.isEmpty || !this.#sweeps.isEmpty || !this.#patrol.isEmpty) this.#alarm.set(now)
    if (now >= this.#upkeep.dueAt) await this.#tidy(now)
    this.#alarm.set(Math.min(this.#upkeep.dueAt, this.#patrolAt))
    await this.#commits.ifDue()
  }

  #addSlice(batch: Batch, sweeps: Pick<Sweeps, 'take'>): void {
    for (const key of sweeps.take(SWEEP_SLICE)) {
      batch.add([key, ...this.#options.projection.refreshReferences(key)], this.#ownCause())
    }
  }

  #ownTenants(): string[] {
    const { tenants, partition, partitions } = this.#options
    return tenants().flatMap(({ name }) => (partitionOf(name, partitions) === partition ? [name] : []))
  }

  get #patrolEveryMs(): number {
    return this.#options.patrolEveryMs ?? PATROL_EVERY_MS
  }

  async #tidy(now: number): Promise<void> {
    const freed = new Batch()
    freed.add(this.#guard.tidy(), this.#ownCause())
    await this.#decide(freed)
    this.#upkeep.run(now)
  }

  #doubled(intent: Intent): void {
    this.#decider.doubled(intent)
    this.#dueAt = undefined
    this.#commits.soon()
  }

  #refused(intent: Intent, error: Error): void {
    const { partition, logger, metrics } = this.#options
    metrics.poison('decide')
    logger.error({ partition, target: intent.target, rule: intent.rule, err: error }, 'the log refuses an intent')
    this.#decider.refused(intent, errorMessage(error))
    this.#dueAt = undefined
    this.#commits.soon()
  }

  async #finish(): Promise<void> {
    await this.#commits.now()
    await unlessAborted(this.#report.flush(), this.#interrupted.signal)
  }

  /** The cause of what no change caused: a retry that is due, a sweep, an outcome. */
  #ownCause(outcomeSeq = this.#options.projection.position(STREAMS.outcomes)): Cause {
    const now = this.#options.clock.now()
    const seq = this.#options.projection.position(STREAMS.changes)
    return { seq, outcomeSeq, observedAt: now, loggedAt: now }
  }
}

const NO_MARKS = {
  get: () => undefined,
  of: () => [],
  set: () => Promise.reject(new Error('nothing that is dropped is kept here')),
  clear: () => undefined,
}

const NOWHERE: HoldBoard = { get: () => undefined, set: () => undefined, clear: () => undefined }

/** The projection's position is older than the log: it must be filled from STATE. */
export class ProjectionOutdated extends Error {}
