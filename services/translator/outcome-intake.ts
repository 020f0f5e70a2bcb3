import type { Intent, LoggedOutcome, Reason } from '#libs/events'
import type { Clock } from '#libs/kernel'
import { keyString } from '#libs/kube-model'
import type { DecisionKey, Pending, Projection } from '#libs/projection'
import { type TenantContext, kindFor, mirrorFor } from '#libs/translation'
import type { Announcer } from './announcer.ts'
import type { DeletionGuard } from './deletion-guard.ts'
import type { Cause } from './plan.ts'
import type { SeenVersions } from './seen-versions.ts'
import { COUNTED_WAITING, settle } from './settle.ts'

/** Reasons that say nothing about any other object. */
const OWN_CAUSES: ReadonlySet<string> = new Set<Reason>([
  'ForeignObject',
  'NameConflict',
  'Invalid',
  'StillPresent',
  'PoisonMessage',
  'OutsideTenant',
])

/** How much is tried at once when one write shows that a cause may have gone. Each that succeeds wakes as many. */
const TRIED_TOGETHER = 20

export type OutcomeIntakeOptions = {
  projection: Projection
  clock: Clock
  random: () => number
  guard: Pick<DeletionGuard, 'settled'>
  seen: SeenVersions
  announcer: Announcer
  tenant(name: string): TenantContext | undefined
}

/** Takes in what became of writes. */
export class OutcomeIntake {
  readonly #options: OutcomeIntakeOptions

  constructor(options: OutcomeIntakeOptions) {
    this.#options = options
  }

  /**
   * Takes an outcome in.
   * @param cause what follows from it is announced under
   * @returns the key to decide about again, and what the tenant is to be told
   */
  settle(outcome: LoggedOutcome, cause: Cause): { keys: DecisionKey[]; announcements: Intent[] } {
    const { projection, clock, random } = this.#options
    const key: DecisionKey = { tenant: outcome.target.tenant, ref: outcome.source }
    const nothing = { keys: [], announcements: [] }
    if (outcome.op === 'announce') return nothing
    this.#agree(key, outcome)
    this.#noteCopy(outcome)
    if (outcome.result === 'done' && outcome.op === 'delete') this.#noteUnwatched(outcome.target)
    const row = projection.pending.of(key).find((pending) => pending.intentId === outcome.intentId)
    const waiting = (): number => projection.pending.countWaiting(key.tenant, COUNTED_WAITING)
    const next = settle(row, outcome, { now: clock.now(), random, waiting })
    const freed = this.#options.guard.settled(outcome)
    if (row === undefined || next === undefined) return { ...nothing, keys: freed }
    projection.pending.put(key, next)
    const keys = [...freed, ...(this.#isEchoToCome(outcome) ? [] : [key]), ...this.#wokenBy(row, outcome)]
    return { keys, announcements: this.#announceOutcome(key, { before: row, after: next }, { outcome, cause }) }
  }

  /** What waits for the same as a write that waited and is done now: most causes hold back more than one object. */
  #wokenBy({ reason }: Pending, { result, target: { tenant, side } }: LoggedOutcome): DecisionKey[] {
    if (result !== 'done' || reason === undefined || OWN_CAUSES.has(reason)) return []
    return this.#options.projection.pending.wake({ tenant, reason, side, limit: TRIED_TOGETHER })
  }

  /** Notes what was written as a copy: it stays ours whatever becomes of its stamps. */
  #noteCopy({ result, op, target, source, sourceUid, uid }: LoggedOutcome): void {
    if (result !== 'done' || target.side !== 'host' || uid === undefined || (op !== 'create' && op !== 'patch')) return
    const of = sourceUid === undefined ? {} : { virtualUid: sourceUid }
    this.#options.projection.noteCopy(target, { uid, ref: source, ...of })
  }

  /** Notes that an object is gone of which no watch may tell, since its kind has been switched off. */
  #noteUnwatched(target: LoggedOutcome['target']): void {
    const { projection, clock } = this.#options
    const { side, resource } = target
    const config = this.#options.tenant(target.tenant)?.config
    const kinds = side === 'host' ? [kindFor(resource)] : [kindFor(resource), mirrorFor(resource)]
    if (config === undefined || kinds.some((kind) => kind?.isEnabled(config) === true)) return
    const stored = projection.objects.peek(target)
    if (stored?.object === undefined) return
    const { object: _object, ...rest } = stored
    projection.objects.put(target, { ...rest, goneAt: clock.now() }, undefined)
  }

  /** Keeps what both sides agree on by an outcome, or did by one that this one has displaced. */
  #agree(key: DecisionKey, { result, op, target, base, agreed, seq }: LoggedOutcome): void {
    const { projection } = this.#options
    // Not what the host made for the copy.
    const isCopy = target.side === 'host' && target.resource === key.ref.resource
    if (result === 'done' && base !== undefined) projection.setAgreement(key, { base, seq })
    else if (result === 'done' && op === 'delete' && isCopy) projection.setAgreement(key, undefined)
    else if (projection.fresh && agreed !== undefined && agreed.seq > (projection.agreement(key)?.seq ?? 0)) {
      projection.setAgreement(key, agreed)
    }
  }

  /** Whether the watch is about to show what a write has made. That is decided about then; until then nothing is new. */
  #isEchoToCome({ op, result, target, resourceVersion }: LoggedOutcome): boolean {
    if (result !== 'done' || resourceVersion === undefined || (op !== 'create' && op !== 'patch')) return false
    return !this.#options.seen.has(keyString(target), resourceVersion)
  }

  #announceOutcome(
    key: DecisionKey,
    row: { before: Pending; after: Pending },
    { outcome, cause }: { outcome: LoggedOutcome; cause: Cause },
  ): Intent[] {
    const repeat = outcome.seq
    if (row.after.state === 'done' && row.before.reason !== undefined) {
      return this.#options.announcer.announce(key, { reason: 'Synced', message: '', count: 1, cause, repeat })
    }
    const attempts = row.after.attempt + 1
    // Told at first, then ever more rarely: the count tells the rest.
    const isToTell = row.after.state === 'parked' && (attempts & (attempts - 1)) === 0
    if (!isToTell || outcome.reason === undefined) return []
    const { reason, message = '' } = outcome
    return this.#options.announcer.announce(key, { reason, message, count: attempts, cause, repeat })
  }
}
