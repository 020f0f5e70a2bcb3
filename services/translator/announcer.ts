import type { Intent } from '#libs/events'
import type { Clock } from '#libs/kernel'
import type { DecisionKey, Projection } from '#libs/projection'
import { type TenantContext, hostNamespaceFor } from '#libs/translation'
import { type Told, announcementFor } from './announce.ts'
import type { TranslatorMetrics } from './metrics.ts'
import type { Cause } from './plan.ts'
import type { TellingBudget } from './telling-budget.ts'

export type AnnouncerOptions = {
  fence: number
  projection: Pick<Projection, 'objects' | 'hostKeyOf'>
  clock: Pick<Clock, 'now'>
  budget: TellingBudget
  metrics: Pick<TranslatorMetrics, 'told'>
  tenant(name: string): TenantContext | undefined
}

/** What a tenant is to be told about one of its objects. */
export type Telling = {
  reason: Told
  /** The API's words, or what the reason is about. */
  message: string
  /** How often it has been so, from 1. */
  count: number
  cause: Cause
  /** Tells one from another of the same cause and count. */
  repeat?: number
}

/** Events beyond a tenant's budget that wait for room; what comes on top is told at its next occasion. */
const HELD_LIMIT = 5_000

/** Makes Events for tenants, no more of them than their budget allows; the others wait for their turn. */
export class Announcer {
  readonly #options: AnnouncerOptions
  /** By the Event that is to be made: a repeat takes the place of what has not been told yet. */
  readonly #held = new Map<string, Intent>()

  constructor(options: AnnouncerOptions) {
    this.#options = options
  }

  /** Whether something waits to be told. */
  get isHolding(): boolean {
    return this.#held.size > 0
  }

  /** @returns the intent that tells it, if it is to be told now and can be: about an object that is known */
  announce(key: DecisionKey, what: Telling): Intent[] {
    const intent = this.#intentFor(key, what)
    if (intent === undefined) return []
    this.#options.metrics.told(what.reason)
    if (what.reason === 'Synced') this.#forget(key)
    const id = idOf(intent)
    const isEarlierHeld = this.#held.delete(id)
    if (!isEarlierHeld && this.#mayTell(intent)) return [intent]
    if (this.#held.size < HELD_LIMIT) this.#held.set(id, intent)
    return []
  }

  /** What was held and may be told by now. */
  due(): Intent[] {
    const told: Intent[] = []
    const full = new Set<string>()
    for (const [id, intent] of this.#held) {
      const { tenant } = intent.target
      if (full.has(tenant)) continue
      if (this.#mayTell(intent)) {
        told.push(intent)
        this.#held.delete(id)
      } else full.add(tenant)
    }
    return told
  }

  /** What was to be told of an object that is in sync again is not true any more. */
  #forget({ tenant, ref }: DecisionKey): void {
    for (const [id, { target, source }] of this.#held) {
      const isOfIt = target.tenant === tenant && source.resource === ref.resource
      if (isOfIt && source.namespace === ref.namespace && source.name === ref.name) this.#held.delete(id)
    }
  }

  #mayTell({ target, write }: Intent): boolean {
    const type = write.op === 'announce' ? write.body['type'] : undefined
    return this.#options.budget.take(target.tenant, this.#options.clock.now(), type)
  }

  #intentFor(key: DecisionKey, what: Telling): Intent | undefined {
    const { projection, clock, fence } = this.#options
    const tenant = this.#options.tenant(key.tenant)
    // What is sealed is of no concern here, and may be what cannot be opened.
    const object = projection.objects.peek({ tenant: key.tenant, side: 'virtual', ...key.ref })?.object
    if (tenant === undefined || object === undefined) return undefined
    const { reason, message, count, cause } = what
    const now = clock.now()
    const event = announcementFor({
      tenant: tenant.name,
      hostNamespace: hostNamespaceFor(key.ref.namespace, tenant),
      hostName: projection.hostKeyOf(tenant, key.ref).name,
      ref: key.ref,
      object,
      reason,
      message,
      count,
      now,
    })
    if (event === undefined) return undefined
    return {
      ...event,
      id: `${key.tenant}/announce/${event.target.namespace}/${event.target.name}/${cause.seq}/${what.repeat ?? count}`,
      source: key.ref,
      needs: [],
      causeSeq: cause.seq,
      observedAt: cause.observedAt,
      loggedAt: cause.loggedAt,
      decidedAt: now,
      rule: 'announce',
      fence,
      attempt: 0,
    }
  }
}

function idOf({ target }: Intent): string {
  return `${target.tenant}/${target.namespace}/${target.name}`
}
