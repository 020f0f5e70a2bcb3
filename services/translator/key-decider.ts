import { type Intent, type LoggedChange, type LoggedOutcome, REASONS, type Reason, type SidedRef } from '#libs/events'
import type { Clock } from '#libs/kernel'
import { keyString } from '#libs/kube-model'
import type { DecisionKey, Pending, Projection } from '#libs/projection'
import type { Logger } from '#libs/telemetry'
import { ANNOTATIONS, type TenantContext, decideFor, isMirrored } from '#libs/translation'
import type { Vault } from '#libs/vault'
import { announcementFor } from './announce.ts'
import type { TranslatorMetrics } from './metrics.ts'
import { type Cause, WAIT_SLOT, plan } from './plan.ts'
import { SeenVersions } from './seen-versions.ts'
import { settle } from './settle.ts'

export type KeyDeciderOptions = {
  fence: number
  projection: Projection
  vault: Vault
  clock: Clock
  random: () => number
  logger: Logger
  metrics: TranslatorMetrics
  tenant(name: string): TenantContext | undefined
}

/** Decides about single keys against the projection, and keeps account of what is under way for them. */
export class KeyDecider {
  readonly #options: KeyDeciderOptions
  /** Announcements that follow from outcomes, to go out with the key's next decision. */
  readonly #announcements = new Map<string, Intent[]>()
  readonly #seen = new SeenVersions()

  constructor(options: KeyDeciderOptions) {
    this.#options = options
  }

  /**
   * Decides about a key.
   * @returns the intents to publish, in order; what they stand for is noted in the projection
   */
  decide(key: DecisionKey, cause: Cause): Intent[] {
    const { projection, logger, metrics } = this.#options
    const tenant = this.#options.tenant(key.tenant)
    // An unknown tenant is decided about when it is registered.
    if (tenant === undefined) return []
    try {
      return [...this.#takeAnnouncements(key), ...this.#decide(key, tenant, cause)]
    } catch (error) {
      metrics.poison('decide')
      logger.error({ tenant: key.tenant, ref: key.ref, err: error }, 'object cannot be decided about')
      projection.pending.put(key, poisoned(error, this.#options.clock.now()))
      return []
    }
  }

  /** Notes that the watch has shown this version of an object. */
  saw(change: Pick<LoggedChange, 'key' | 'resourceVersion'>): void {
    this.#seen.add(keyString(change.key), change.resourceVersion)
  }

  /**
   * Takes an outcome in.
   * @returns the key to decide about again
   */
  settle(outcome: LoggedOutcome): DecisionKey[] {
    const { projection, clock, random } = this.#options
    const key: DecisionKey = { tenant: outcome.target.tenant, ref: outcome.source }
    if (outcome.op === 'announce') return []
    if (outcome.result === 'done') {
      if (outcome.base !== undefined) projection.setBase(key, outcome.base)
      else if (outcome.op === 'delete' && outcome.target.side === 'host') projection.setBase(key, undefined)
    }
    const row = projection.pending.of(key).find((pending) => pending.intentId === outcome.intentId)
    const next = settle(row, outcome, { now: clock.now(), random })
    if (next === undefined) return []
    projection.pending.put(key, next)
    if (next.state === 'parked') this.#announceOutcome(key, next, outcome)
    return this.#isEchoToCome(outcome) ? [] : [key]
  }

  /** Whether the watch is about to show what a write has made. That is decided about then; until then nothing is new. */
  #isEchoToCome({ op, result, target, resourceVersion }: LoggedOutcome): boolean {
    if (result !== 'done' || resourceVersion === undefined || (op !== 'create' && op !== 'patch')) return false
    return !this.#seen.has(keyString(target), resourceVersion)
  }

  #decide(key: DecisionKey, tenant: TenantContext, cause: Cause): Intent[] {
    const { projection, clock, fence, vault, metrics } = this.#options
    const now = clock.now()
    const rows = projection.pending.of(key)
    const wait = rows.find((row) => row.slot === WAIT_SLOT)
    const decisions = decideFor(projection.view(tenant, key.ref, wait === undefined ? 0 : now - wait.since))
    const planned = plan(key, decisions, {
      now,
      cause,
      fence,
      rows,
      fingerprint: (text) => vault.fingerprint(text),
      hasSeen: (target, version) =>
        this.#seen.has(keyString({ tenant: ownerOf(key.tenant, target), ...target }), version),
    })
    for (const row of planned.puts) projection.pending.put(key, row)
    for (const slot of planned.deletes) projection.pending.delete(key, slot)
    for (const rejected of planned.rejected) {
      this.#announce(key, tenant, { ...rejected, reason: reasonOf(rejected.reason), count: 1, cause })
    }
    return [...this.#takeAnnouncements(key), ...planned.intents.map((intent) => this.#finish(intent, metrics))]
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
    if (write.op === 'patch' && !Array.isArray(write.body) && vault.covers(target.resource)) {
      return { ...intent, write: { ...write, body: vault.sealFields(target, write.body) } }
    }
    return intent
  }

  #announceOutcome(key: DecisionKey, row: Pending, outcome: LoggedOutcome): void {
    const tenant = this.#options.tenant(key.tenant)
    const attempts = row.attempt + 1
    // Told at first, then ever more rarely: the count tells the rest.
    if (tenant === undefined || outcome.reason === undefined || (attempts & (attempts - 1)) !== 0) return
    const { seq, storedAt } = outcome
    this.#announce(key, tenant, {
      reason: outcome.reason,
      message: outcome.message ?? '',
      count: attempts,
      cause: { seq: outcome.causeSeq, observedAt: storedAt, loggedAt: storedAt },
      repeat: seq,
    })
  }

  #announce(
    key: DecisionKey,
    tenant: TenantContext,
    what: { reason: Reason; message: string; count: number; cause: Cause; repeat?: number },
  ): void {
    const { projection, clock, fence } = this.#options
    const object = projection.objects.get({ tenant: key.tenant, side: 'virtual', ...key.ref })?.object
    if (object === undefined) return
    const now = clock.now()
    const event = announcementFor({
      tenant: tenant.name,
      hostNamespace: tenant.hostNamespace,
      hostName: projection.hostKeyOf(tenant, key.ref).name,
      ref: key.ref,
      object,
      reason: what.reason,
      message: what.message,
      count: what.count,
      now,
    })
    if (event === undefined) return
    const intent: Intent = {
      ...event,
      id: `${key.tenant}/announce/${event.target.namespace}/${event.target.name}/${what.cause.seq}/${what.repeat ?? what.count}`,
      source: key.ref,
      needs: [],
      causeSeq: what.cause.seq,
      observedAt: what.cause.observedAt,
      loggedAt: what.cause.loggedAt,
      decidedAt: now,
      rule: 'announce',
      fence,
      attempt: 0,
    }
    const id = announcementId(key)
    this.#announcements.set(id, [...(this.#announcements.get(id) ?? []), intent])
  }

  #takeAnnouncements(key: DecisionKey): Intent[] {
    const id = announcementId(key)
    const intents = this.#announcements.get(id) ?? []
    this.#announcements.delete(id)
    return intents
  }
}

function announcementId(key: DecisionKey): string {
  return `${key.tenant}/${key.ref.resource}/${key.ref.namespace}/${key.ref.name}`
}

/** Host objects that concern all tenants are nobody's. */
function ownerOf(tenant: string, target: SidedRef): string {
  return target.side === 'host' && isMirrored(target.resource) ? '' : tenant
}

function reasonOf(text: string): Reason {
  return REASONS.find((reason) => reason === text) ?? 'Unsupported'
}

function poisoned(error: unknown, now: number): Pending {
  return {
    slot: 'reject',
    intentId: '',
    digest: '',
    attempt: 0,
    state: 'parked',
    carriesBase: false,
    reason: 'PoisonMessage',
    message: error instanceof Error ? error.message : String(error),
    since: now,
  }
}
