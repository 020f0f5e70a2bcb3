import { type Intent, type LoggedChange, type LoggedOutcome, REASONS, type Reason, type SidedRef } from '#libs/events'
import { type Clock, errorMessage } from '#libs/kernel'
import { type ObjectKey, keyString } from '#libs/kube-model'
import type { DecisionKey, Pending, Projection } from '#libs/projection'
import type { Logger } from '#libs/telemetry'
import { ANNOTATIONS, type Decision, type TenantContext, type View, decideFor, isMirrored } from '#libs/translation'
import type { Vault } from '#libs/vault'
import { Announcer } from './announcer.ts'
import type { DeletionGuard } from './deletion-guard.ts'
import type { TranslatorMetrics } from './metrics.ts'
import type { DroppedWritesKeeper } from './dropped-writes.ts'
import { NOTE_SLOT, keepNote, noteIn, noteOn } from './notes.ts'
import { OutcomeIntake } from './outcome-intake.ts'
import { type Cause, type Plan, WAIT_SLOT, plan } from './plan.ts'
import { RepeatBrake } from './repeat-brake.ts'
import { SeenVersions } from './seen-versions.ts'
import { TakenCopies, lossIn } from './taken-copies.ts'
import { TellingBudget } from './telling-budget.ts'
import { UNREAD_SLOT, UnreadMessages } from './unread-messages.ts'

/** When an object that cannot be processed is tried again: a later version of this build may know better. */
const POISON_RETRY_MS = 600_000
/** An answer that is yet to come comes within this time, as a rule. */
const DOUBLED_RETRY_MS = 5_000

export type KeyDeciderOptions = {
  fence: number
  projection: Projection
  vault: Vault
  clock: Clock
  random: () => number
  logger: Logger
  metrics: TranslatorMetrics
  guard: Pick<DeletionGuard, 'admit' | 'settled'>
  /** What operators have dropped. @default nothing */
  dropped?: Pick<DroppedWritesKeeper, 'keep'> | undefined
  /** @default one of its own */
  budget?: TellingBudget
  tenant(name: string): TenantContext | undefined
}

/** Decides about single keys against the projection, and keeps account of what is under way for them. */
export class KeyDecider {
  readonly #options: KeyDeciderOptions
  readonly #seen = new SeenVersions()
  readonly #repeats = new RepeatBrake()
  readonly #announcer: Announcer
  readonly #unread: UnreadMessages
  readonly #taken: TakenCopies
  readonly #outcomes: OutcomeIntake

  constructor(options: KeyDeciderOptions) {
    this.#options = options
    this.#announcer = new Announcer({ ...options, budget: options.budget ?? new TellingBudget() })
    this.#unread = new UnreadMessages(options.projection)
    this.#taken = new TakenCopies(options.projection)
    this.#outcomes = new OutcomeIntake({ ...options, seen: this.#seen, announcer: this.#announcer })
  }

  /** What tenants are told. */
  get announcer(): Pick<Announcer, 'due' | 'isHolding'> {
    return this.#announcer
  }

  /**
   * Decides about a key.
   * @returns the intents to publish, in order; what they stand for is noted in the projection
   */
  decide(key: DecisionKey, cause: Cause): Intent[] {
    const { logger, metrics } = this.#options
    const tenant = this.#options.tenant(key.tenant)
    // An unknown tenant is decided about when it is registered.
    if (tenant === undefined) return []
    try {
      return this.#decide(key, tenant, cause)
    } catch (error) {
      metrics.poison('decide')
      logger.error({ tenant: key.tenant, ref: key.ref, err: error }, 'object cannot be decided about')
      const message = errorMessage(error)
      const isNew = this.#poison(key, message)
      return isNew ? this.#announcer.announce(key, { reason: 'PoisonMessage', message, count: 1, cause }) : []
    }
  }

  /** Takes in that a message about an object cannot be read. @returns what its tenant is to be told */
  unreadable(object: ObjectKey, message: string, cause: Cause): Intent[] {
    const key = this.#unread.note(object, { message, now: this.#options.clock.now() })
    if (key === undefined) return []
    return this.#announcer.announce(key, { reason: 'PoisonMessage', message, count: 1, cause })
  }

  /** Looks at a change that is about to be folded in. */
  sees(change: LoggedChange): void {
    this.#taken.see(change)
  }

  /** Takes in that the log will never take an intent. */
  refused(intent: Intent, why: string): void {
    const { projection, clock } = this.#options
    const key: DecisionKey = { tenant: intent.target.tenant, ref: intent.source }
    const row = projection.pending.of(key).find((pending) => pending.intentId === intent.id)
    if (row === undefined) return
    const now = clock.now()
    const reason = { reason: 'PoisonMessage', message: why } as const
    projection.pending.put(key, { ...row, ...reason, state: 'parked', since: now, due: now + POISON_RETRY_MS })
  }

  /**
   * Takes in that the log had an intent already, from before a crash. The writer may have answered it since, and the
   * answer may have been read while nobody knew of the intent: it is not waited for as long as for another.
   */
  doubled(intent: Intent): void {
    const { projection, clock } = this.#options
    const key: DecisionKey = { tenant: intent.target.tenant, ref: intent.source }
    const row = projection.pending.of(key).find((pending) => pending.intentId === intent.id)
    if (row?.state === 'issued') projection.pending.put(key, { ...row, due: clock.now() + DOUBLED_RETRY_MS })
  }

  /**
   * Notes why nothing can be decided, and when it is tried again: until then nothing of the key is due.
   * @returns whether it could be before
   */
  #poison(key: DecisionKey, why: string): boolean {
    const { projection, clock } = this.#options
    const now = clock.now()
    const due = now + POISON_RETRY_MS
    const rows = projection.pending.of(key)
    for (const row of rows) {
      if (row.due !== undefined && row.due < due) projection.pending.put(key, { ...row, due })
    }
    projection.pending.put(key, poisoned(why, { now, due }))
    return rows.every(({ reason }) => reason !== 'PoisonMessage')
  }

  /** Notes that the watch has shown this version of an object. */
  saw(change: Pick<LoggedChange, 'key' | 'resourceVersion'>): void {
    this.#seen.add(keyString(change.key), change.resourceVersion)
    this.#unread.read(change.key)
  }

  /**
   * Takes an outcome in.
   * @param cause what follows from it is announced under
   * @returns the key to decide about again, and what the tenant is to be told
   */
  settle(outcome: LoggedOutcome, cause: Cause): { keys: DecisionKey[]; announcements: Intent[] } {
    return this.#outcomes.settle(outcome, cause)
  }

  #decide(key: DecisionKey, tenant: TenantContext, cause: Cause): Intent[] {
    const { projection, clock, fence, vault, metrics, guard } = this.#options
    const now = clock.now()
    const all = projection.pending.of(key)
    const rows = all.filter(({ slot }) => slot !== NOTE_SLOT && slot !== UNREAD_SLOT)
    const wait = rows.find((row) => row.slot === WAIT_SLOT)
    const view = projection.view(tenant, key.ref, waitedFor(rows, now))
    const decisions = decideFor(view).map((decision) => guard.admit(tenant, key, decision))
    const planned = plan(key, decisions, {
      now,
      cause,
      fence,
      rows,
      fingerprint: (text) => vault.fingerprint(text),
      generation: projection.generation,
      sourceUid: view.virtual.object?.metadata.uid ?? view.made?.virtualUid,
      agreed: decisions.length === 0 ? undefined : projection.agreement(key),
      hasSeen: (target, version) =>
        this.#seen.has(keyString({ tenant: ownerOf(key.tenant, target), ...target }), version),
    })
    if (wait?.due !== undefined && wait.due <= now && planned.intents.some(({ write }) => write.op === 'create')) {
      const missing = { tenant: key.tenant, ref: key.ref, missing: wait.message }
      this.#options.logger.info(missing, 'created without all that it refers to; it starts when that is there')
    }
    const held = this.#brake(key, { ...planned, rows }, now)
    for (const row of planned.puts) projection.pending.put(key, held.get(row.intentId) ?? row)
    for (const slot of planned.deletes) projection.pending.delete(key, slot)
    const dropped = this.#options.dropped?.keep(key, rows)
    const announcements = planned.rejected.flatMap(({ reason, message }) =>
      this.#announcer.announce(key, { reason: reasonOf(reason), message, count: 1, cause }),
    )
    announcements.push(...this.#note(key, { view, decisions, rows: all }, cause))
    const free = planned.intents.filter(({ id }) => !held.has(id) && dropped?.has(id) !== true)
    announcements.push(...this.#mourn(key, { view, rows, decisions, intents: free }, cause))
    return [...announcements, ...free.map((intent) => this.#finish(intent, metrics))]
  }

  /** Keeps what is to be known of an object of which nothing waits. @returns what its tenant is to be told */
  #note(key: DecisionKey, of: { view: View; decisions: readonly Decision[]; rows: readonly Pending[] }, cause: Cause) {
    const { projection, clock } = this.#options
    const { view, decisions, rows } = of
    const row = noteIn(rows)
    const note = noteOn(view, decisions, projection)
    for (const unread of rows) {
      // Only a later message ends it, whenever it is tried.
      const { due, ...rest } = unread
      if (unread.slot === UNREAD_SLOT && due !== undefined) projection.pending.put(key, rest)
    }
    if (note === undefined) {
      if (row !== undefined) projection.pending.delete(key, NOTE_SLOT)
      return []
    }
    const { put, isToTell } = keepNote(row, note, clock.now())
    if (put !== undefined) projection.pending.put(key, put)
    return isToTell ? this.#announcer.announce(key, { ...note, count: (put?.attempt ?? 0) + 1, cause }) : []
  }

  /** What the tenant is to be told when somebody else has deleted a copy on the host. */
  #mourn(
    key: DecisionKey,
    of: { view: View; rows: readonly Pending[]; decisions: readonly Decision[]; intents: readonly Intent[] },
    cause: Cause,
  ): Intent[] {
    const isTaken = this.#taken.has(key)
    const followed = lossIn(of, isTaken)
    // What is held back, or waits for a reference, follows later.
    if (isTaken && (followed !== undefined || of.decisions.length === 0)) this.#taken.settled(key)
    if (followed === undefined) return []
    this.#options.metrics.copyLost(key.ref.resource, followed)
    const message = followed === 'created' ? 'it is made again' : 'so this one is deleted as well'
    return this.#announcer.announce(key, { reason: 'DeletedOnHost', message, count: 1, cause })
  }

  /** What is to be remembered instead of making writes that somebody undoes again and again, by intent. */
  #brake(key: DecisionKey, { intents, puts, rows }: Plan & { rows: readonly Pending[] }, now: number) {
    const held = new Map<string, Pending>()
    for (const { id, write, target, rule, attempt } of intents) {
      const row = puts.find(({ intentId }) => intentId === id)
      if (row === undefined || (write.op !== 'patch' && write.op !== 'create')) continue
      // What was refused has a backoff of its own.
      const isRetry = attempt > 0 && rows.find(({ slot }) => slot === row.slot)?.state !== 'settled'
      if (isRetry) continue
      const waitMs = this.#repeats.ask(`${key.tenant}/${row.slot}/${row.digest}`, now)
      if (waitMs === 0) continue
      const { reason: _reason, message: _message, ...rest } = row
      held.set(id, { ...rest, state: 'settled', since: now, due: now + waitMs })
      this.#options.logger.warn({ target, rule, waitMs }, 'a write is undone again and again; it is made more slowly')
    }
    return held
  }

  /** Adds the trace to what is created, and seals what must not be read in the log. */
  #finish(intent: Intent, metrics: TranslatorMetrics): Intent {
    metrics.intent(intent.rule)
    const { write, target, traceparent } = intent
    const { vault } = this.#options
    if (write.op === 'create') {
      const { metadata } = write.body
      const traced =
        traceparent === undefined || target.side === 'virtual'
          ? write.body
          : {
              ...write.body,
              metadata: { ...metadata, annotations: { ...metadata.annotations, [ANNOTATIONS.trace]: traceparent } },
            }
      return { ...intent, write: { ...write, body: vault.seal(target, traced) } }
    }
    if (write.op === 'patch' && vault.covers(target.resource)) {
      if (Array.isArray(write.body)) throw new Error(`a JSON patch of ${target.resource} cannot be sealed`)
      return { ...intent, write: { ...write, body: vault.sealFields(target, write.body) } }
    }
    return intent
  }
}

/** How long a creation has waited for what it refers to, in milliseconds. What has been tried since waits no more. */
function waitedFor(rows: readonly Pending[], now: number): number {
  const wait = rows.find((row) => row.slot === WAIT_SLOT)
  if (wait !== undefined) return now - wait.since
  const isTried = rows.some(
    ({ slot, state }) => state !== 'done' && slot.startsWith('host/') && slot.endsWith('/create'),
  )
  return isTried ? Infinity : 0
}

/** Host objects that concern all tenants are nobody's. */
function ownerOf(tenant: string, target: SidedRef): string {
  return target.side === 'host' && isMirrored(target.resource) ? '' : tenant
}

function reasonOf(text: string): Reason {
  return REASONS.find((reason) => reason === text) ?? 'Unsupported'
}

function poisoned(message: string, { now, due }: { now: number; due: number }): Pending {
  return {
    slot: 'reject',
    intentId: '',
    digest: '',
    attempt: 0,
    state: 'parked',
    carriesBase: false,
    reason: 'PoisonMessage',
    message,
    since: now,
    due,
  }
}
