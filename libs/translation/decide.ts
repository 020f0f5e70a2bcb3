import type { DeleteProof, SidedRef } from '#libs/events'
import type { KubeObject, ObjectRef } from '#libs/kube-model'
import type { Decision, Rule } from './decision.ts'
import type { Kind, PairWrite } from './kind.ts'
import { hostName } from './names.ts'
import { isOurs, stampedUid } from './stamps.ts'
import type { View } from './view.ts'

/** How long creation waits for a required reference that is not in the log yet, e.g. a ConfigMap created just before. */
export const REFERENCE_WAIT_MS = 1_000

/**
 * Decides what follows from the state of one virtual object and its host copy. Level-triggered: it looks at states,
 * never at events; the same view gives the same decisions, and two sides that agree give none.
 */
export function decide(view: View, kind: Kind): Decision[] {
  const pair = new Pair(view, kind)
  if (view.virtual.object === undefined) return withoutVirtual(pair)
  if (!isWanted(view, kind, view.virtual.object)) return unwanted(pair)
  if (view.virtual.object.metadata.deletionTimestamp !== undefined) return virtualTerminating(pair, view.virtual.object)
  return view.host.object === undefined
    ? withoutHost(pair, view.virtual.object)
    : both(pair, view.virtual.object, view.host.object)
}

/** A view with its kind and the targets that follow from them. */
class Pair {
  readonly view: View
  readonly kind: Kind
  readonly hostTarget: SidedRef
  readonly virtualTarget: SidedRef

  constructor(view: View, kind: Kind) {
    this.view = view
    this.kind = kind
    this.virtualTarget = { side: 'virtual', ...view.key }
    this.hostTarget = { side: 'host', ...hostRef(view, view.key) }
  }

  /** The host copy if it is there and carries our stamps. */
  get ours(): KubeObject | undefined {
    const host = this.view.host.object
    return host !== undefined && isOurs(host, this.view.tenant, this.view.key.resource) ? host : undefined
  }

  deleteHost(host: KubeObject, rule: Rule, proof: DeleteProof, gracePeriodSeconds?: number): Decision[] {
    // A second delete can only shorten the grace; a copy that is going is left alone otherwise.
    const going = host.metadata.deletionTimestamp !== undefined
    if (going && !shortens(host, gracePeriodSeconds)) return []
    return [this.write(this.hostTarget, deletion(host, proof, gracePeriodSeconds), rule)]
  }

  write(target: SidedRef, write: Extract<Decision, { kind: 'write' }>['write'], rule: Rule): Decision {
    return { kind: 'write', target, write, rule, needs: [] }
  }

  fromPair(change: PairWrite): Decision {
    return {
      kind: 'write',
      target: change.side === 'host' ? this.hostTarget : this.virtualTarget,
      write: change.write,
      rule: change.rule,
      needs: change.needs ?? [],
      ...(change.base === undefined ? {} : { base: change.base }),
    }
  }
}

function hostRef(view: View, ref: ObjectRef): ObjectRef {
  return { resource: ref.resource, namespace: view.tenant.hostNamespace, name: hostName(ref, view.tenant.name) }
}

/** Whether the object is to be on the host: not excluded, and used where its kind asks for that. */
function isWanted(view: View, kind: Kind, virtual: KubeObject): boolean {
  if (kind.excluded(virtual)) return false
  return !kind.onlyWhileUsed || view.related.usersOf(view.key).length > 0
}

function withoutVirtual(pair: Pair): Decision[] {
  const host = pair.ours
  if (host === undefined) return []
  const gone = pair.view.virtual.gone
  if (gone !== undefined && gone.uid === stampedUid(host)) {
    return pair.deleteHost(host, 'virtualGone', { kind: 'tombstone', seq: gone.seq })
  }
  // A copy whose original we never saw: only the tenant's API can say whether it exists.
  if (!pair.view.related.synced('virtual', pair.view.key.resource)) return []
  const counterpart = { tenant: pair.view.tenant.name, side: 'virtual' as const, ...pair.view.key }
  const uid = stampedUid(host)
  return pair.deleteHost(host, 'virtualNeverSeen', {
    kind: 'confirm-absent',
    counterpart,
    ...(uid === undefined ? {} : { uid }),
  })
}

function unwanted(pair: Pair): Decision[] {
  const host = pair.ours
  if (host === undefined) return []
  // Whether something uses the object can be told only once all pods are known.
  if (!pair.view.related.synced('virtual', 'pods')) return []
  return pair.deleteHost(host, 'unused', { kind: 'state', seq: pair.view.virtual.seq })
}

function virtualTerminating(pair: Pair, virtual: KubeObject): Decision[] {
  const { view, kind } = pair
  const proof: DeleteProof = { kind: 'state', seq: view.virtual.seq }
  const host = pair.ours
  if (kind.lifecycle === 'plain') return host === undefined ? [] : pair.deleteHost(host, 'virtualTerminating', proof)
  if (host !== undefined) {
    const grace = virtual.metadata.deletionGracePeriodSeconds
    const decisions = pair.deleteHost(host, 'virtualTerminating', proof, grace)
    // The tenant follows how its pod goes: status still comes back while it terminates.
    const back = kind.reconcile(pairInput(view, virtual, host)).filter((change) => change.side === 'virtual')
    return [...decisions, ...back.map((change) => pair.fromPair(change))]
  }
  return removeVirtual(pair, virtual, 'virtualTerminating')
}

function withoutHost(pair: Pair, virtual: KubeObject): Decision[] {
  const { view, kind } = pair
  if (kind.lifecycle === 'pod' && view.host.gone !== undefined && view.host.gone.virtualUid === virtual.metadata.uid) {
    return removeVirtual(pair, virtual, 'hostGone')
  }
  const missing = kind.requiredReferences(virtual).filter((ref) => view.related.virtual(ref) === undefined)
  if (missing.length > 0 && view.waitedMs < REFERENCE_WAIT_MS) {
    return [{ kind: 'wait', refs: missing, limitMs: REFERENCE_WAIT_MS }]
  }
  const desired = kind.toHost({ virtual, tenant: view.tenant, related: view.related })
  if (desired.kind === 'reject') return [desired]
  const needs = kind.references({ virtual }).map((ref) => ({ side: 'host' as const, ...hostRef(view, ref) }))
  return [
    {
      kind: 'write',
      target: pair.hostTarget,
      write: { op: 'create', body: desired.object },
      rule: 'create',
      needs,
      ...(desired.base === undefined ? {} : { base: desired.base }),
    },
  ]
}

function both(pair: Pair, virtual: KubeObject, host: KubeObject): Decision[] {
  const { view, kind } = pair
  if (!isOurs(host, view.tenant, view.key.resource)) return []
  if (kind.lifecycle === 'pod') {
    if (stampedUid(host) !== virtual.metadata.uid) {
      return pair.deleteHost(host, 'virtualReplaced', { kind: 'state', seq: view.virtual.seq })
    }
    if (host.metadata.deletionTimestamp !== undefined) {
      const grace = host.metadata.deletionGracePeriodSeconds
      const proof: DeleteProof = { kind: 'state', seq: view.host.seq }
      return [pair.write(pair.virtualTarget, deletion(virtual, proof, grace), 'hostTerminating')]
    }
  } else if (host.metadata.deletionTimestamp !== undefined) {
    return []
  }
  return kind.reconcile(pairInput(view, virtual, host)).map((change) => pair.fromPair(change))
}

/** Takes the tenant's pod away once its host copy is gone: grace 0, since nothing runs any more. */
function removeVirtual(pair: Pair, virtual: KubeObject, rule: Rule): Decision[] {
  const { view } = pair
  if (virtual.metadata.deletionTimestamp !== undefined && virtual.metadata.deletionGracePeriodSeconds === 0) return []
  const gone = view.host.gone
  const proof: DeleteProof =
    gone !== undefined && gone.virtualUid === virtual.metadata.uid
      ? { kind: 'tombstone', seq: gone.seq }
      : { kind: 'confirm-absent', counterpart: { tenant: view.tenant.name, ...pair.hostTarget } }
  return [pair.write(pair.virtualTarget, deletion(virtual, proof, 0), rule)]
}

function deletion(object: KubeObject, proof: DeleteProof, gracePeriodSeconds?: number) {
  return {
    op: 'delete' as const,
    uid: object.metadata.uid ?? '',
    proof,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  }
}

function shortens(host: KubeObject, gracePeriodSeconds: number | undefined): boolean {
  const current = host.metadata.deletionGracePeriodSeconds
  return gracePeriodSeconds !== undefined && current !== undefined && gracePeriodSeconds < current
}

function pairInput(view: View, virtual: KubeObject, host: KubeObject) {
  const base = view.base === undefined ? {} : { base: view.base }
  return { virtual, host, tenant: view.tenant, related: view.related, ...base }
}
