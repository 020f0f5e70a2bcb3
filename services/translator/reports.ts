import type { Intent, LoggedChange } from '#libs/events'
import type { Clock } from '#libs/kernel'
import {
  type KubeObject,
  type ObjectKey,
  type ObjectRef,
  type ResourceInfo,
  keyString,
  resourceToken,
} from '#libs/kube-model'
import type { Projection } from '#libs/projection'
import {
  DEFINITIONS,
  type ReportSubject,
  type TenantContext,
  kindNamed,
  reportFor,
  stampedUid,
  tellReport,
  virtualRefOf,
} from '#libs/translation'
import type { Cause } from './plan.ts'
import { TellingBudget } from './telling-budget.ts'

export type ReportsOptions = {
  projection: Pick<Projection, 'objects' | 'references'>
  fence: number
  clock: Clock
  /** @default one of its own */
  budget?: TellingBudget
  tenant(name: string): TenantContext | undefined
}

/** A report may come before the object that it is about: two watches know nothing of each other. */
const HOLD_MS = 5_000
const HELD_LIMIT = 500

type Held = { change: LoggedChange; report: KubeObject; cause: Cause; until: number }

/**
 * Passes on what the host says about copies, each as an announcement about the tenant's object. Nothing of it is stored:
 * the tenant's own API keeps what it is told.
 */
export class Reports {
  readonly #options: ReportsOptions
  readonly #budget: TellingBudget
  /** By the host object that is waited for. */
  readonly #held = new Map<string, Held[]>()
  #heldCount = 0

  constructor(options: ReportsOptions) {
    this.#options = options
    this.#budget = options.budget ?? new TellingBudget()
  }

  /** Whether a change is of this kind, so that it is not for the projection. */
  static covers({ key, type }: LoggedChange): boolean {
    return key.side === 'host' && type !== 'SYNCED' && reportFor(key.resource) !== undefined
  }

  /** @returns what the tenant is to be told */
  take(change: LoggedChange, cause: Cause): Intent[] {
    if (change.type === 'DELETED') return []
    return this.#translate({ change, report: change.object(), cause, until: this.#options.clock.now() + HOLD_MS })
  }

  /** What was waiting for an object that a change shows. */
  shown(key: ObjectKey): Intent[] {
    if (this.#heldCount === 0) return []
    const id = keyString(key)
    const held = this.#held.get(id) ?? []
    this.#held.delete(id)
    this.#heldCount -= held.length
    const now = this.#options.clock.now()
    return held.filter(({ until }) => until > now).flatMap((item) => this.#translate(item))
  }

  #translate(item: Held): Intent[] {
    const { change, report, cause } = item
    const tenant = this.#options.tenant(change.key.tenant)
    const kind = reportFor(change.key.resource)
    if (tenant === undefined || kind === undefined || !kind.isEnabled(tenant.config)) return []
    const subject = kind.subjectOf(report)
    const about = subject === undefined ? undefined : this.#find(subject, change.key, tenant)
    if (about === undefined) return []
    if (about === 'unknown') {
      if (subject !== undefined) this.#hold(item, subject, tenant)
      return []
    }
    if (!this.#budget.take(tenant.name, this.#options.clock.now(), report.type)) return []
    const body = tellReport(kind, { report, tenant, ...about, isHidden: (word) => this.#isHiddenNode(word, tenant) })
    if (body === undefined) return []
    const { name = '', namespace = '' } = body.metadata
    const target = { tenant: tenant.name, side: 'virtual', resource: change.key.resource, namespace, name } as const
    const intent: Intent = {
      id: `${tenant.name}/report/${namespace}/${name}/${String(change.seq)}`,
      target,
      write: { op: 'announce', body },
      source: about.ref,
      needs: [],
      causeSeq: cause.seq,
      observedAt: cause.observedAt,
      loggedAt: cause.loggedAt,
      decidedAt: this.#options.clock.now(),
      rule: 'report',
      fence: this.#options.fence,
      attempt: 0,
    }
    return [intent]
  }

  /** The pair that a report is about; `unknown` for a host object that was never seen, undefined for one that is not ours. */
  #find(subject: ReportSubject, key: ObjectKey, tenant: TenantContext) {
    const resource = this.#resourceOf(subject, tenant)
    // What is said of an object without namespace is in one all the same.
    const isPlaced = subject.namespace === (resource?.namespaced === false ? '' : key.namespace)
    if (resource === undefined || !isPlaced) return undefined
    const { objects, references } = this.#options.projection
    const stored = objects.peek(copyKey(subject, key.tenant, resourceToken(resource)))
    if (stored === undefined) return 'unknown'
    const copy = stored.object
    const owner = copy === undefined ? undefined : virtualRefOf(copy)
    if (copy === undefined || owner?.tenant !== tenant.name) return undefined
    if (subject.uid !== undefined && copy.metadata.uid !== subject.uid) return undefined
    const original = objects.peek({ tenant: tenant.name, side: 'virtual', ...owner.ref })?.object
    if (original === undefined || stampedUid(copy) !== original.metadata.uid) return undefined
    const refs: ObjectRef[] = references.of(tenant.name, owner.ref)
    return { copy, original, ref: owner.ref, resource, references: refs }
  }

  /** Whether a word is the name of a node that the tenant does not see. */
  #isHiddenNode(name: string, tenant: TenantContext): boolean {
    const { objects } = this.#options.projection
    const node = { resource: 'nodes', namespace: '', name } as const
    if (objects.peek({ tenant: '', side: 'host', ...node })?.object === undefined) return false
    return objects.peek({ tenant: tenant.name, side: 'virtual', ...node })?.object === undefined
  }

  #resourceOf(subject: ReportSubject, { config }: TenantContext): ResourceInfo | undefined {
    const { objects } = this.#options.projection
    const of = { tenant: '', side: 'host', resource: DEFINITIONS, namespace: '' } as const
    return kindNamed(subject, { config, definitionOf: (name) => objects.peek({ ...of, name })?.object })?.resource
  }

  #hold(item: Held, subject: ReportSubject, tenant: TenantContext): void {
    const resource = this.#resourceOf(subject, tenant)
    if (resource === undefined || item.until <= this.#options.clock.now()) return
    this.#makeRoom()
    const id = keyString(copyKey(subject, item.change.key.tenant, resourceToken(resource)))
    const before = this.#held.get(id) ?? []
    this.#held.set(id, [...before, item])
    this.#heldCount++
  }

  #makeRoom(): void {
    const now = this.#options.clock.now()
    for (const [id, [oldest, ...rest]] of this.#held) {
      if (this.#heldCount < HELD_LIMIT && (oldest?.until ?? 0) > now) return
      this.#heldCount--
      if (rest.length === 0) this.#held.delete(id)
      else this.#held.set(id, rest)
    }
  }
}

function copyKey({ namespace, name }: ReportSubject, tenant: string, resource: string): ObjectKey {
  return { tenant, side: 'host', resource, namespace, name }
}
