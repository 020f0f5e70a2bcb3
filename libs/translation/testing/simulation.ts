import type { SidedRef, Write } from '#libs/events'
import { cloneJson } from '#libs/kernel'
import type { JsonObject, KubeObject, ObjectRef, Side } from '#libs/kube-model'
import { asObject } from '../json.ts'
import type { Decision } from '../decision.ts'
import { hostRefOf } from '../names.ts'
import { decideFor, decideRank, isDecided, isMirrored, referencesOf } from '../registry.ts'
import { stampedUid } from '../stamps.ts'
import type { Presence, Related, TenantContext, View } from '../view.ts'
import { applyPatch } from './apply-patch.ts'

/**
 * Both sides of one tenant in memory: decides over all its keys and applies the decisions as the two APIs would, as far
 * as decisions look at it. No time passes: nothing that was asked for is still on its way.
 */
export class Simulation {
  tenant: TenantContext
  readonly #presences = new Map<string, Presence>()
  readonly #bases = new Map<string, JsonObject>()
  #seq = 0

  constructor(tenant: TenantContext) {
    this.tenant = tenant
  }

  /** Gives the tenant another configuration. */
  configure(tenant: TenantContext): void {
    this.tenant = tenant
  }

  /** Puts an object on a side, as somebody else would: the tenant, a controller, the kubelet. */
  put(side: Side, resource: string, object: KubeObject): KubeObject {
    const ref = { resource, namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' }
    const seq = ++this.#seq
    const before = this.get(side, ref)
    const generation = (before?.metadata.generation ?? 0) + 1
    const metadata = {
      uid: `${side}-uid-${String(seq)}`,
      ...cloneJson(object.metadata),
      generation,
      resourceVersion: String(seq),
    }
    const stored: KubeObject = { ...cloneJson(object), metadata }
    this.#presences.set(keyOf(side, ref), { object: stored, seq })
    return stored
  }

  /** Changes an object on a side by a merge patch. */
  change(side: Side, ref: ObjectRef, patch: JsonObject): KubeObject {
    const object = this.get(side, ref)
    if (object === undefined) throw new Error(`there is no ${keyOf(side, ref)}`)
    return this.put(side, ref.resource, applyPatch(object as JsonObject, patch, false) as KubeObject)
  }

  /** Takes an object away for good, leaving a tombstone. */
  remove(side: Side, ref: ObjectRef): void {
    const object = this.get(side, ref)
    if (object === undefined) return
    const seq = ++this.#seq
    const virtualUid = side === 'host' ? stampedUid(object) : undefined
    const gone = { uid: object.metadata.uid ?? '', seq, ...(virtualUid === undefined ? {} : { virtualUid }) }
    this.#presences.set(keyOf(side, ref), { gone, seq })
  }

  get(side: Side, ref: ObjectRef): KubeObject | undefined {
    return this.#presences.get(keyOf(side, ref))?.object
  }

  /** The key of a virtual object's copy on the host, or of the host object that it mirrors. */
  hostRef(ref: ObjectRef): ObjectRef {
    if (isMirrored(ref.resource)) return ref
    return hostRefOf(ref, this.tenant)
  }

  view(key: ObjectRef): View {
    const base = this.#bases.get(keyOf('virtual', key))
    return {
      tenant: this.tenant,
      key,
      virtual: this.#presences.get(keyOf('virtual', key)) ?? { seq: 0 },
      host: this.#presences.get(keyOf('host', this.hostRef(key))) ?? { seq: 0 },
      related: this.#related(),
      waitedMs: Infinity,
      ...(base === undefined ? {} : { base }),
    }
  }

  decide(key: ObjectRef): Decision[] {
    return decideFor(this.view(key))
  }

  /** Decides and applies until nothing follows any more; returns the rounds it took. */
  settle(limit = 20): number {
    for (let round = 0; round < limit; round++) {
      const decisions = this.#keys().flatMap((key) =>
        this.decide(key).flatMap((decision) => (decision.kind === 'write' ? [{ key, decision }] : [])),
      )
      if (decisions.length === 0) return round
      for (const { key, decision } of decisions) {
        this.apply(decision.target, decision.write)
        if (decision.base !== undefined) this.#bases.set(keyOf('virtual', key), decision.base)
      }
    }
    throw new Error(`not settled after ${String(limit)} rounds`)
  }

  /** Carries out one write. A uid that is not the object's makes it fail, as the APIs would. */
  apply(target: SidedRef, write: Write): void {
    const object = this.get(target.side, target)
    if (write.op === 'create') {
      if (object === undefined) this.put(target.side, target.resource, withoutStatus(write.body))
      return
    }
    if (write.op === 'replace') {
      if (object !== undefined) this.remove(target.side, target)
      this.put(target.side, target.resource, withoutStatus(write.body))
      return
    }
    if (object === undefined || write.op === 'announce' || object.metadata.uid !== write.uid) return
    switch (write.op) {
      case 'patch': {
        if (write.resourceVersion !== undefined && write.resourceVersion !== object.metadata.resourceVersion) return
        const { resourceVersion: _version, ...body } = asObject(write.body) ?? {}
        const patched = applyPatch(object as JsonObject, body, write.patchType === 'strategic') as KubeObject
        this.put(target.side, target.resource, patched)
        return
      }
      case 'bind':
        this.change(target.side, target, {
          spec: { nodeName: write.node },
          status: { conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: 'when-bound' }] },
        })
        return
      case 'delete':
        this.#delete(target, object, write.gracePeriodSeconds)
    }
  }

  /** Pods that run go with a grace period; all else goes at once. */
  #delete(target: SidedRef, object: KubeObject, gracePeriodSeconds = 30): void {
    const runs = target.resource === 'pods' && asObject(object.spec)?.nodeName !== undefined
    if (!runs || gracePeriodSeconds === 0) {
      this.remove(target.side, target)
      return
    }
    const deletionTimestamp = '2026-01-01T00:00:00Z'
    this.change(target.side, target, {
      metadata: { deletionTimestamp, deletionGracePeriodSeconds: gracePeriodSeconds },
    })
  }

  #keys(): ObjectRef[] {
    const keys = new Map<string, ObjectRef>()
    const add = (ref: ObjectRef): void => void keys.set(keyOf('virtual', ref), ref)
    for (const [text, presence] of this.#presences) {
      const [side, resource = '', namespace = '', name = ''] = text.split('|')
      const ref = { resource, namespace, name }
      if (side === 'virtual' || isMirrored(resource)) add(ref)
      else {
        const { annotations } = presence.object?.metadata ?? {}
        const original = annotations?.['causeway.dev/name']
        if (original) add({ resource, namespace: annotations?.['causeway.dev/namespace'] ?? '', name: original })
      }
    }
    const order = (ref: ObjectRef): number => decideRank(ref.resource)
    return [...keys.values()].filter((ref) => isDecided(ref.resource)).sort((a, b) => order(a) - order(b))
  }

  #in(side: Side, resource: string, namespace: string): KubeObject[] {
    return [...this.#presences].flatMap(([key, { object }]) =>
      object !== undefined && key.startsWith(`${side}|${resource}|${namespace}|`) ? [object] : [],
    )
  }

  #related(): Related {
    return {
      virtual: (ref) => this.get('virtual', ref),
      host: (ref) => this.get('host', ref),
      virtualIn: (resource, namespace) => this.#in('virtual', resource, namespace),
      hostIn: (resource, namespace) => this.#in('host', resource, namespace),
      usersOf: (ref) =>
        this.#keys().filter((user) => {
          const pair = { virtual: this.get('virtual', user), host: this.get('host', this.hostRef(user)) }
          return referencesOf(user.resource, pair, this.tenant).some(
            (used) => keyOf('virtual', used) === keyOf('virtual', ref),
          )
        }),
      synced: () => true,
    }
  }
}

function withoutStatus(object: KubeObject): KubeObject {
  if (object.kind !== 'Pod') return object
  return { ...object, status: { phase: 'Pending', qosClass: 'BestEffort' } }
}

function keyOf(side: Side, ref: ObjectRef): string {
  return [side, ref.resource, ref.namespace, ref.name].join('|')
}
