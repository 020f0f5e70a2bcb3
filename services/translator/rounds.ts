import type { Intent } from '#libs/events'
import type { Clock, Pacer } from '#libs/kernel'
import type { Projection } from '#libs/projection'
import type { Alarm } from './alarm.ts'
import { Batch } from './batch.ts'
import type { Committer } from './committer.ts'
import type { DeletionGuard } from './deletion-guard.ts'
import type { IntentLog } from './intent-log.ts'
import type { KeyDecider } from './key-decider.ts'
import type { Patrol } from './patrol.ts'
import type { Cause } from './plan.ts'
import type { Sweeps } from './sweeps.ts'
import type { Takeover } from './takeover.ts'
import type { Upkeep } from './upkeep.ts'

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

export type RoundsOptions = {
  projection: Projection
  clock: Clock
  pacer: Pacer
  decider: KeyDecider
  guard: DeletionGuard
  intents: IntentLog
  commits: Committer
  alarm: Alarm
  sweeps: Sweeps
  patrol: Patrol
  takeover: Takeover
  upkeep: Upkeep
  /** @default 10 minutes */
  patrolEveryMs?: number | undefined
  /** The cause of what no change caused. */
  ownCause: () => Cause
  /** Tenants of the partition. */
  ownTenants: () => string[]
  /** Breaks off a step that waits. */
  signal: AbortSignal
}

/** Decides about keys: those that changes have touched, and in rounds those that are due, swept or patrolled. */
export class Rounds {
  readonly #options: RoundsOptions
  /** When the first key is due, as of the last decisions; undefined when none is, or not known. */
  dueAt: number | undefined
  #patrolAt: number

  constructor(options: RoundsOptions) {
    this.#options = options
    this.#patrolAt = options.clock.now() + this.#patrolEveryMs
  }

  /** Publishes what a batch tells tenants. */
  async announce({ announcements }: Batch): Promise<void> {
    const { intents, signal } = this.#options
    for (const intent of announcements) await intents.publish(intent, signal)
  }

  /** Decides about the keys of a batch and publishes what follows. @returns the intents that followed */
  async decide(batch: Batch): Promise<Intent[]> {
    const { signal, decider, intents, projection, alarm, clock, pacer } = this.#options
    const published: Intent[] = []
    await this.announce(batch)
    for (const { key, cause } of batch.inOrder()) {
      for (const intent of decider.decide(key, cause)) {
        await intents.publish(intent, signal, cause.earlier)
        published.push(intent)
      }
      const pause = pacer.pause()
      if (pause !== undefined) await pause
    }
    this.dueAt = projection.pending.nextDue()
    if (this.dueAt !== undefined) alarm.set(this.dueAt)
    if (decider.announcer.isHolding) alarm.set(clock.now() + TELL_AGAIN_MS)
    return published
  }

  /** Due keys, a slice of the sweeps, and what is to be done now and then. */
  async wake(): Promise<void> {
    const { clock, projection, takeover, commits, decider, sweeps, patrol, upkeep, alarm, ownCause, ownTenants } =
      this.#options
    const now = clock.now()
    if (!takeover.isOver) return commits.ifDue()
    const batch = new Batch()
    batch.announcements.push(...decider.announcer.due())
    if (now >= (this.dueAt ?? now)) batch.add(projection.pending.due(now, DUE_LIMIT), ownCause())
    // After the others: what a change has touched is decided about with that change for a cause, as it was before.
    if (takeover.isEmpty) this.#addSlice(batch, sweeps)
    else for (const { key, cause } of takeover.take(TAKEOVER_SLICE)) batch.add([key], cause)
    await this.decide(batch)
    if (!batch.isEmpty) commits.soon()
    if (now >= this.#patrolAt) {
      this.#patrolAt = now + this.#patrolEveryMs
      patrol.goRound(ownTenants())
    }
    // What is missing after a start is no drift: the patrol goes on when the sweeps have ended.
    if (sweeps.isEmpty && !patrol.isEmpty) {
      const slice = new Batch()
      this.#addSlice(slice, patrol)
      patrol.decided(await this.decide(slice))
      if (!slice.isEmpty) commits.soon()
    }
    if (!takeover.isEmpty || !sweeps.isEmpty || !patrol.isEmpty) alarm.set(now)
    if (now >= upkeep.dueAt) await this.#tidy(now)
    alarm.set(Math.min(upkeep.dueAt, this.#patrolAt))
    await commits.ifDue()
  }

  #addSlice(batch: Batch, sweeps: Pick<Sweeps, 'take'>): void {
    const { projection, ownCause } = this.#options
    for (const key of sweeps.take(SWEEP_SLICE)) {
      batch.add([key, ...projection.refreshReferences(key)], ownCause())
    }
  }

  get #patrolEveryMs(): number {
    return this.#options.patrolEveryMs ?? PATROL_EVERY_MS
  }

  async #tidy(now: number): Promise<void> {
    const { guard, upkeep, ownCause } = this.#options
    const freed = new Batch()
    freed.add(guard.tidy(), ownCause())
    await this.decide(freed)
    upkeep.run(now)
  }
}
