import type { DeletionLimits } from '#libs/config'
import type { DeleteProof, LoggedOutcome } from '#libs/events'
import type { Clock } from '#libs/kernel'
import type { ObjectKey, Side } from '#libs/kube-model'
import type { DecisionKey, Projection } from '#libs/projection'
import type { DeletionHold } from '#libs/runtime'
import type { Logger } from '#libs/telemetry'
import { type Decision, type Rule, type TenantContext, mirrorFor } from '#libs/translation'

/** Where holds are kept for others to see, and for whoever has the partition next. */
export type HoldBoard = {
  /** What is known of a tenant's hold from before. */
  get(tenant: string): DeletionHold | undefined
  set(tenant: string, hold: DeletionHold): void
  clear(tenant: string): void
}

/** Keeps nothing. */
export const NOWHERE: HoldBoard = { get: () => undefined, set: () => undefined, clear: () => undefined }

export type DeletionGuardOptions = {
  projection: Projection
  clock: Clock
  logger: Logger
  limits: DeletionLimits
  board: HoldBoard
}

type WriteDecision = Extract<Decision, { kind: 'write' }>
type Deletion = WriteDecision & { write: Extract<WriteDecision['write'], { op: 'delete' }> }
type Held = Omit<DeletionHold, 'waiting'> & { samples: Map<string, { key: DecisionKey; confirmed: boolean }> }

/** Rules that delete on one side since the object of the other side has vanished. */
const VANISHING: ReadonlySet<string> = new Set<Rule>(['virtualGone', 'virtualNeverSeen', 'hostGone', 'mirrorGone'])

/** Deletions count for this long. */
const WINDOW_MS = 60_000
/** What was confirmed is let go for this long, however often it must be tried. */
const CONFIRMED_MS = 3_600_000
/** How many of the vanished objects are read live before the others are let go. */
const SAMPLES = 8

const REASON = 'MassDeletion'

/**
 * Stops the deletions of a tenant when its objects vanish from one side in great number, as they seem to when an API has
 * lost its storage. A sample of them is read live; when all of it is gone, the others may go as well, and they are
 * counted afresh: of what is left, as many more may go before the next sample. When a sample contradicts, an operator
 * must confirm. Where the cluster seems to be in an earlier state than it was in, none goes without a sample, and where a
 * sample shows that it is, an operator must confirm at once. Nothing else of the tenant waits, and nothing is forgotten: each deletion is parked, and decided anew.
 */
export class DeletionGuard {
  readonly #options: DeletionGuardOptions
  readonly #holds = new Map<string, Held>()
  /** How many objects of a kind a tenant had when those that count began to go. */
  readonly #totals = new Map<string, number>()

  constructor(options: DeletionGuardOptions) {
    this.#options = options
  }

  /** Tenants whose deletions wait. */
  get holding(): number {
    return this.#holds.size
  }

  /** Takes up a hold from before a restart. */
  restore(tenant: string): void {
    const { board, clock } = this.#options
    const stored = board.get(tenant)
    if (stored === undefined && this.#parked(tenant).length === 0) return
    const { waiting: _waiting, ...hold } = stored ?? { since: clock.now(), side: 'virtual', resource: '', waiting: 0 }
    this.#holds.set(tenant, { ...hold, samples: new Map() })
    this.#publish(tenant)
  }

  /** What is made of a decision: itself, the same with a live read first, or a wait. */
  admit(tenant: TenantContext, key: DecisionKey, decision: Decision): Decision {
    if (!isVanishing(decision)) return decision
    const { projection, clock } = this.#options
    const hold = this.#holds.get(tenant.name)
    const side = decision.target.side
    const id = idOf(key, side)
    if (hold?.samples.has(id) === true && hold.needsOperator !== true) return this.#asSample(tenant, key, decision)
    if (projection.vanished.has(key, side)) return decision
    if (hold !== undefined) return this.#held(hold, { tenant, key, decision })
    const weight = this.#weight(tenant, key, decision)
    if (!this.#isDoubted(key, side) && this.#fits(key, { side, weight })) {
      projection.vanished.add(key, { side, weight, until: clock.now() + WINDOW_MS })
      return decision
    }
    return this.#held(this.#begin(key, decision), { tenant, key, decision })
  }

  /**
   * Takes in what became of a deletion.
   * @returns the keys to be decided about again
   */
  settled(outcome: LoggedOutcome): DecisionKey[] {
    const { tenant, side } = outcome.target
    const hold = this.#holds.get(tenant)
    const sample = hold?.samples.get(idOf({ tenant, ref: outcome.source }, side))
    if (hold === undefined || sample === undefined || outcome.op !== 'delete') return []
    if (outcome.result === 'done') {
      sample.confirmed = true
      return this.#isConfirmed(tenant, hold) ? this.#release(tenant, 'live reads say that they are gone') : []
    }
    if (outcome.result !== 'parked') return []
    const isContradicted = outcome.reason === 'StillPresent' || outcome.reason === REASON
    if (isContradicted && hold.contradiction !== outcome.message) {
      const { logger } = this.#options
      const { message } = outcome
      logger.error({ tenant, ref: outcome.source, message }, 'deletions stay stopped: a live read contradicts them')
    }
    if (outcome.reason === REASON) hold.needsOperator = true
    // That there was no answer says nothing against it, and is what it waits for.
    hold.contradiction = outcome.message ?? 'a live read found one of them'
    this.#publish(tenant)
    return []
  }

  /**
   * Lets go what waits, on an operator's word.
   * @param since the beginning of the hold that is meant; a later one goes on
   * @returns the keys to be decided about again
   */
  confirm(tenant: string, since: number): DecisionKey[] {
    const { projection, clock } = this.#options
    const hold = this.#holds.get(tenant)
    if (hold === undefined || hold.since > since) return []
    const keys = [...this.#parked(tenant), ...[...hold.samples.values()].map(({ key }) => key)]
    const until = clock.now() + CONFIRMED_MS
    for (const key of keys)
      for (const side of ['virtual', 'host'] as const) projection.vanished.add(key, { side, weight: 0, until })
    return [...this.#release(tenant, 'an operator confirmed'), ...keys]
  }

  /** Forgets a tenant that is not followed any more. */
  forget(tenant: string): void {
    if (this.#holds.delete(tenant)) this.#options.board.clear(tenant)
  }

  /**
   * Ends what has no object any more, and says how much waits.
   * @returns the keys to be decided about again
   */
  tidy(): DecisionKey[] {
    const { projection, clock } = this.#options
    projection.vanished.expire(clock.now())
    const keys: DecisionKey[] = []
    for (const [tenant, hold] of this.#holds) {
      // Those that are back, or were decided otherwise, tell nothing any more.
      for (const [id, { key, confirmed }] of hold.samples)
        if (!confirmed && projection.pending.of(key).length === 0) hold.samples.delete(id)
      const isOver = this.#parked(tenant).length === 0 && hold.samples.values().every(({ confirmed }) => confirmed)
      if (isOver) keys.push(...this.#release(tenant, 'nothing waits any more'))
      else this.#publish(tenant)
    }
    return keys
  }

  #held(hold: Held, of: { tenant: TenantContext; key: DecisionKey; decision: Deletion }): Decision {
    const { tenant, key, decision } = of
    if (
      hold.needsOperator !== true &&
      hold.samples.size < SAMPLES &&
      this.#counterpart(tenant, key, decision) !== undefined
    ) {
      hold.samples.set(idOf(key, decision.target.side), { key, confirmed: false })
      return this.#asSample(tenant, key, decision)
    }
    const from = decision.target.side === 'host' ? 'the tenant’s cluster' : 'the host'
    const message = `more objects vanished from ${from} at once than are let go without a live read that confirms it`
    return { kind: 'reject', reason: REASON, message }
  }

  #begin(key: DecisionKey, decision: Deletion): Held {
    const { clock, logger } = this.#options
    const side = decision.target.side === 'host' ? 'virtual' : 'host'
    const { resource } = key.ref
    const hold: Held = { since: clock.now(), side, resource, samples: new Map() }
    this.#holds.set(key.tenant, hold)
    logger.info({ tenant: key.tenant, side, resource }, 'very many objects vanished; deletions wait for live reads')
    this.#publish(key.tenant)
    return hold
  }

  #release(tenant: string, why: string): DecisionKey[] {
    const { projection, board, logger } = this.#options
    this.#holds.delete(tenant)
    for (const id of this.#totals.keys()) if (id.startsWith(`${tenant}/`)) this.#totals.delete(id)
    projection.vanished.forget(tenant)
    board.clear(tenant)
    logger.info({ tenant, why }, 'deletions go on')
    return this.#parked(tenant)
  }

  #isConfirmed(tenant: string, { samples, needsOperator }: Held): boolean {
    if (needsOperator === true || !samples.values().every(({ confirmed }) => confirmed)) return false
    return samples.size >= SAMPLES || this.#parked(tenant).length === 0
  }

  #parked(tenant: string): DecisionKey[] {
    return this.#options.projection.pending.parkedFor(tenant, REASON)
  }

  #publish(tenant: string): void {
    const hold = this.#holds.get(tenant)
    if (hold === undefined) return
    const { samples: _samples, ...shown } = hold
    this.#options.board.set(tenant, { ...shown, waiting: this.#parked(tenant).length })
  }

  /** Whether what the deletion follows from is missing from what seems an earlier state of its cluster. */
  #isDoubted({ tenant }: DecisionKey, target: Side): boolean {
    return this.#options.projection.vanished.isDoubted(tenant, target === 'host' ? 'virtual' : 'host')
  }

  #fits({ tenant, ref: { resource } }: DecisionKey, { side, weight }: { side: Side; weight: number }): boolean {
    const { projection, limits } = this.#options
    const counted = projection.vanished.weight(tenant, { side, resource })
    const id = `${tenant}/${side}/${resource}`
    // Taken when the first goes: later, what is left says less and less of how many there were.
    const total = counted === 0 ? undefined : this.#totals.get(id)
    const known = total ?? projection.objects.count({ tenant, side, resource })
    if (total === undefined) this.#totals.set(id, known)
    if (projection.vanished.weight(tenant) + weight > limits.perMinute) return false
    return counted + weight <= Math.max(limits.free, limits.share * known)
  }

  /** What goes by one deletion: with a namespace what is in it, with a node the pods on it. */
  #weight(tenant: TenantContext, { ref }: DecisionKey, { target, rule }: Deletion): number {
    const { projection } = this.#options
    if (ref.resource === 'namespaces' && target.side === 'host')
      return 1 + projection.objects.countIn({ tenant: tenant.name, side: 'host', namespace: target.name })
    return rule === 'mirrorGone' ? 1 + projection.references.usersOf(tenant.name, ref).length : 1
  }

  #asSample(tenant: TenantContext, key: DecisionKey, decision: Deletion): Decision {
    const counterpart = this.#counterpart(tenant, key, decision)
    if (counterpart === undefined) return decision
    const stored = this.#options.projection.objects.peek(
      decision.rule === 'mirrorGone' ? { ...counterpart, tenant: '' } : counterpart,
    )
    const known = decision.write.proof.kind === 'confirm-absent' ? decision.write.proof.uid : stored?.uid
    const proof: DeleteProof = {
      kind: 'confirm-absent',
      counterpart,
      ...(known === undefined ? {} : { uid: known }),
      listed: stored === undefined ? {} : { notBefore: stored.resourceVersion },
    }
    return { ...decision, write: { ...decision.write, proof } }
  }

  /** The object that has vanished; undefined for those that have another name on the host than the writer would know. */
  #counterpart(tenant: TenantContext, { ref }: DecisionKey, { target, rule }: Deletion): ObjectKey | undefined {
    if (target.side === 'host') return { tenant: tenant.name, side: 'virtual', ...ref }
    if (rule !== 'mirrorGone') return this.#options.projection.hostKeyOf(tenant, ref)
    return mirrorFor(ref.resource)?.originalOf === undefined ? { tenant: tenant.name, side: 'host', ...ref } : undefined
  }
}

function isVanishing(decision: Decision): decision is Deletion {
  return decision.kind === 'write' && decision.write.op === 'delete' && VANISHING.has(decision.rule)
}

function idOf({ tenant, ref }: DecisionKey, side: Side): string {
  return `${tenant}/${side}/${ref.resource}/${ref.namespace}/${ref.name}`
}
