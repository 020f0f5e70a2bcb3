import { lastSequence } from '#libs/bus'
import { DEFAULT_DELETION_LIMITS } from '#libs/config'
import { type Intent, type LogMessage, STREAMS, type StreamName, partitionOf } from '#libs/events'
import { type Pacer, createPacer, errorMessage } from '#libs/kernel'
import { Alarm } from './alarm.ts'
import { Batch } from './batch.ts'
import { Committer } from './committer.ts'
import { DeletionGuard, NOWHERE } from './deletion-guard.ts'
import { ProjectionOutdated, fillFromState, requireSameLog } from './fill-projection.ts'
import { FollowedStream } from './followed-stream.ts'
import { IntentLog } from './intent-log.ts'
import { DroppedWritesKeeper, NO_MARKS } from './dropped-writes.ts'
import { KeyDecider } from './key-decider.ts'
import { MessageFolder } from './message-folder.ts'
import { OperatorsOrders } from './operators-orders.ts'
import type { Cause } from './plan.ts'
import { Lifespan } from './lifespan.ts'
import { Patrol } from './patrol.ts'
import { PositionReport } from './position-report.ts'
import { Reports } from './reports.ts'
import { Rounds } from './rounds.ts'
import { Sweeps } from './sweeps.ts'
import { Takeover } from './takeover.ts'
import { TellingBudget } from './telling-budget.ts'
import { Turns } from './turns.ts'
import { unlessAborted } from './unless-aborted.ts'
import { Upkeep } from './upkeep.ts'
import type { PartitionWorkerOptions } from './worker-options.ts'

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
  readonly #rounds: Rounds
  /** What operators ask for. */
  readonly orders: OperatorsOrders
  readonly #takeover = new Takeover([STREAMS.changes, STREAMS.outcomes])
  readonly #takenOver = Promise.withResolvers<void>()
  readonly #life: Lifespan
  /** Steps that fold, decide and commit, of both streams and of the alarm. */
  readonly #turns = new Turns((error) => this.#life.fail(error))
  #streams: FollowedStream[] = []
  #caughtUp = false

  constructor(options: PartitionWorkerOptions) {
    this.#options = options
    this.#pacer = options.pacer ?? createPacer()
    this.#life = new Lifespan(options)
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
    const patrol = new Patrol(options)
    this.orders = new OperatorsOrders({
      dropped,
      patrol,
      tenants: () => this.#ownTenants(),
      ordered: (step) => this.#ordered(step),
      over: this.#life.over,
      signal: this.#life.interrupted,
    })
    this.#intents = new IntentLog({
      ...options,
      onRefused: (intent, error) => void this.#turns.take(() => this.#refused(intent, error)),
      onDoubled: (intent) => void this.#turns.take(() => this.#doubled(intent)),
      onFailure: (error) => this.#life.fail(error),
    })
    this.#report = new PositionReport({
      clock: options.clock,
      store: options.storePosition,
      onFailure: (error) => this.#life.fail(error),
    })
    this.#alarm = new Alarm(options.clock, () => this.#turns.take(() => this.#rounds.wake()))
    this.#commits = new Committer({
      ...options,
      intents: this.#intents,
      report: this.#report,
      alarm: this.#alarm,
      signal: this.#life.interrupted,
    })
    const upkeep = new Upkeep({
      ...options,
      streams: () => this.#streams,
      inTurn: (step) => this.#turns.take(step),
      onChange: () => this.#commits.soon(),
    })
    this.#rounds = new Rounds({
      ...options,
      pacer: this.#pacer,
      decider: this.#decider,
      guard: this.#guard,
      intents: this.#intents,
      commits: this.#commits,
      alarm: this.#alarm,
      sweeps: this.#sweeps,
      takeover: this.#takeover,
      patrol,
      upkeep,
      ownCause: () => this.#ownCause(),
      ownTenants: () => this.#ownTenants(),
      signal: this.#life.interrupted,
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
    try {
      await this.#life.live(
        async (until) => {
          await until(this.#turns.take(() => this.#begin()))
          this.#alarm.set(this.#options.clock.now())
          await until(Promise.all(this.#streams.map(({ done }) => done)))
          await until(this.#turns.take(() => this.#finish()))
        },
        () => this.#alarm.close(),
      )
    } finally {
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
      await this.#rounds.decide(batch)
      await this.#commits.now()
    })
  }

  /** A step that an operator ordered, once the partition is taken over, with what follows from it committed. */
  async #ordered<T>(step: () => T | Promise<T>): Promise<T | undefined> {
    await Promise.race([this.#takenOver.promise, this.#life.over])
    let result: T | undefined
    await this.#turns.take(async () => {
      const value = await step()
      this.#rounds.dueAt = undefined
      this.#alarm.set(this.#options.clock.now())
      await this.#commits.now()
      result = value
    })
    return result
  }

  async #begin(): Promise<void> {
    const { projection, tenants } = this.#options
    const isFresh = projection.fresh
    await requireSameLog(this.#options)
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

  #fill(): Promise<void> {
    const fold = (stream: StreamName, message: LogMessage): void => this.#folder.fold(stream, message, new Batch())
    return fillFromState({ ...this.#options, pacer: this.#pacer, fold })
  }

  #follow(stream: StreamName, isFresh: boolean): FollowedStream {
    const { partition, projection, logger } = this.#options
    return new FollowedStream({
      ...this.#options,
      stream,
      isFresh,
      position: projection.position(stream),
      signal: this.#life.reading,
      take: (messages) => this.#turns.take(() => this.#take(stream, messages)),
      onMissed: (gap) => {
        // The history no longer reaches back to the position: only STATE knows what was missed.
        logger.error({ partition, ...gap }, 'the log was truncated; the projection is built again')
        this.#life.fail(new ProjectionOutdated(`${gap.stream} is missing messages from ${gap.from} on`))
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
    if (this.#takeover.isOver) await this.#rounds.decide(batch)
    else {
      await this.#rounds.announce(batch)
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

  #ownTenants(): string[] {
    const { tenants, partition, partitions } = this.#options
    return tenants().flatMap(({ name }) => (partitionOf(name, partitions) === partition ? [name] : []))
  }

  #doubled(intent: Intent): void {
    this.#decider.doubled(intent)
    this.#rounds.dueAt = undefined
    this.#commits.soon()
  }

  #refused(intent: Intent, error: Error): void {
    const { partition, logger, metrics } = this.#options
    metrics.poison('decide')
    logger.error({ partition, target: intent.target, rule: intent.rule, err: error }, 'the log refuses an intent')
    this.#decider.refused(intent, errorMessage(error))
    this.#rounds.dueAt = undefined
    this.#commits.soon()
  }

  async #finish(): Promise<void> {
    await this.#commits.now()
    await unlessAborted(this.#report.flush(), this.#life.interrupted)
  }

  /** The cause of what no change caused: a retry that is due, a sweep, an outcome. */
  #ownCause(outcomeSeq = this.#options.projection.position(STREAMS.outcomes)): Cause {
    const now = this.#options.clock.now()
    const seq = this.#options.projection.position(STREAMS.changes)
    return { seq, outcomeSeq, observedAt: now, loggedAt: now }
  }
}
