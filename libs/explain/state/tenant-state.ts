import { type Bus, originOf, readLast } from '#libs/bus'
import {
  type LogMessage,
  type LoggedChange,
  type LoggedOutcome,
  STREAMS,
  decodeChange,
  decodeOutcome,
  parseSubject,
} from '#libs/events'
import { errorMessage } from '#libs/kernel'
import { type KubeObject, type ObjectKey, type ObjectRef, keyString } from '#libs/kube-model'
import { Projection } from '#libs/projection'
import { type TenantContext, isMirrored } from '#libs/translation'
import type { Vault } from '#libs/vault'
import { aroundObject, subjectsOf, wholeTenant } from './state-filters.ts'

/** The last that the log says of one object, or that it is gone. */
export type LastSeen = {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  uid: string
  resourceVersion: string
  seq: number
  /** When it was in hand and when it was stored, ms since the epoch. */
  observedAt: number
  at: number
}

/** Patience of a view that no decision of ours waits for. */
const WAITED_MS = 3_600_000

/** More neighbours than this are read with all else. */
const NEIGHBOURS = 100

/**
 * What the log's last states say of one tenant, as its translator has it: filled from STATE into memory. Live objects may
 * be put in the place of logged ones, to see what would be decided about what is there now.
 */
export class TenantState {
  readonly projection: Projection
  readonly tenant: TenantContext
  readonly #seen = new Map<string, LastSeen>()
  readonly #outcomes = new Map<string, LoggedOutcome>()
  readonly #unreadable = new Map<string, string>()

  private constructor(tenant: TenantContext, vault: Vault) {
    this.tenant = tenant
    this.projection = new Projection({
      path: ':memory:',
      vault,
      hostNamespaceOf: (name) => (name === tenant.name ? tenant.hostNamespace : undefined),
      contextOf: (name) => (name === tenant.name ? tenant : undefined),
    })
  }

  /**
   * Reads the last states of a tenant, and of the host's objects that concern all tenants.
   * @param of.about one object alone: what decisions about it can look at
   * @throws BusError
   */
  static async read(
    bus: Bus,
    of: {
      tenant: TenantContext
      partition: number
      vault: Vault
      about?: ObjectRef
      signal?: AbortSignal | undefined
    },
  ): Promise<TenantState> {
    const { tenant, vault, about, signal } = of
    const state = new TenantState(tenant, vault)
    const read = async (filterSubjects: readonly string[]): Promise<void> => {
      const options = { stream: STREAMS.state, filterSubjects, ...(signal === undefined ? {} : { signal }) }
      for await (const batch of readLast(bus, options)) for (const message of batch) state.#take(message)
    }
    try {
      const around = about === undefined ? undefined : aroundObject(of, about)
      if (around === undefined || about === undefined) await read(wholeTenant(of))
      else {
        await read(around)
        const related = state.#neighboursOf(about)
        if (related.length > 0) await read(related.length > NEIGHBOURS ? wholeTenant(of) : subjectsOf(of, related))
      }
      return state
    } catch (error) {
      state.close()
      throw error
    }
  }

  /** The last that the log says of an object. */
  seen(key: ObjectKey): LastSeen | undefined {
    return this.#seen.get(keyString(key))
  }

  /** Keys of all that the log says to be there, of one kind on one side. */
  known({ tenant, side, resource }: Pick<ObjectKey, 'tenant' | 'side' | 'resource'>): ObjectKey[] {
    const prefix = `${tenant}/${side}/${resource}/`
    return [...this.#seen].flatMap(([id, { type }]) => {
      if (type === 'DELETED' || !id.startsWith(prefix)) return []
      const [namespace = '', name = ''] = id.slice(prefix.length).split('/')
      return [{ tenant, side, resource, namespace, name }]
    })
  }

  /** What became of the last write to a target. */
  outcome(target: ObjectKey): LoggedOutcome | undefined {
    return this.#outcomes.get(keyString(target))
  }

  /** Why the last message about an object cannot be read, if so. */
  unreadable(key: ObjectKey): string | undefined {
    return this.#unreadable.get(keyString(key))
  }

  /** What the projection of today's code makes of one key. */
  view(ref: Pick<ObjectKey, 'resource' | 'namespace' | 'name'>): ReturnType<Projection['view']> {
    return this.projection.view(this.tenant, ref, WAITED_MS)
  }

  /**
   * Puts what is there now in the place of what the log says. An object that is the same stays under its sequence.
   * @param object absent when the API says that there is none
   */
  put(key: ObjectKey, object: KubeObject | undefined): void {
    const seen = this.seen(key)
    const known = this.projection.objects.peek(key)
    if (object === undefined) {
      if (known?.object === undefined) return
      const { kind, apiVersion, metadata } = known.object
      const { labels, annotations, name, namespace } = metadata
      const identity = {
        ...(kind === undefined ? {} : { kind }),
        ...(apiVersion === undefined ? {} : { apiVersion }),
        metadata: {
          name: name ?? key.name,
          namespace: namespace ?? key.namespace,
          uid: known.uid,
          labels,
          annotations,
        },
      } as KubeObject
      this.projection.fold(changeOf('DELETED', key, identity, seen))
      return
    }
    if (seen?.type !== 'DELETED' && seen?.resourceVersion === object.metadata.resourceVersion) return
    this.projection.fold(changeOf('MODIFIED', key, object, seen))
  }

  /** Whether a complete list of the tenant's objects of a kind, or of its copies, has been in the log. */
  isListed(side: 'virtual' | 'host', resource: string): boolean {
    return this.projection.synced(this.tenant.name, side, resource) || this.projection.synced('', side, resource)
  }

  close(): void {
    this.projection.abandon()
  }

  /** What an object refers to, and what refers to it: their copies may matter. */
  #neighboursOf(ref: ObjectRef): ObjectRef[] {
    const { references } = this.projection
    const { name } = this.tenant
    const near = [...references.of(name, ref), ...references.usersOf(name, ref)]
    return near.filter((each) => each.name !== '' && !isMirrored(each.resource))
  }

  #take(message: LogMessage): void {
    const origin = originOf(message)
    if (origin === undefined) return
    const { key, type } = parseSubject(message.subject)
    const own = { ...message, seq: origin.seq }
    try {
      if (type === 'change') this.#change(decodeChange(own))
      else if (type === 'outcome') this.#outcome(decodeOutcome(own))
    } catch (error) {
      this.#unreadable.set(keyString(key), errorMessage(error))
    }
  }

  #change(change: LoggedChange): void {
    const { type, uid, resourceVersion, seq, observedAt, storedAt: at } = change
    this.projection.fold(change)
    if (type !== 'SYNCED') this.#seen.set(keyString(change.key), { type, uid, resourceVersion, seq, observedAt, at })
  }

  #outcome(outcome: LoggedOutcome): void {
    const { op, result, target, source, base, agreed, seq } = outcome
    this.#outcomes.set(keyString(target), outcome)
    if (op === 'announce') return
    // As the translator takes them in when it begins from STATE.
    const key = { tenant: target.tenant, ref: source }
    if (result === 'done' && base !== undefined) this.projection.setAgreement(key, { base, seq })
    else if (result === 'done' && op === 'delete' && target.side === 'host') {
      this.projection.setAgreement(key, undefined)
    } else if (agreed !== undefined && agreed.seq > (this.projection.agreement(key)?.seq ?? 0)) {
      this.projection.setAgreement(key, agreed)
    }
  }
}

/** A live state in the form of a change, as the watcher would see it after what was seen last. */
function changeOf(
  type: 'MODIFIED' | 'DELETED',
  key: ObjectKey,
  object: KubeObject,
  seen: LastSeen | undefined,
): LoggedChange {
  const { uid = '', resourceVersion = '' } = object.metadata
  return {
    type,
    key,
    kind: object.kind ?? '',
    uid,
    resourceVersion,
    epoch: 0,
    observedAt: seen?.observedAt ?? 0,
    seq: seen?.seq ?? 1,
    storedAt: seen?.at ?? 0,
    partition: 0,
    object: () => object,
  }
}
