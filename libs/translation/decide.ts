import type { DeleteProof } from '#libs/events'
import type { KubeObject, ObjectRef } from '#libs/kube-model'
import type { Decision, Rule } from './decision.ts'
import { asObject } from './json.ts'
import type { Kind } from './kind.ts'
import { hasOwnNamespaces, isNamespaceMapped } from './names.ts'
import { Pair, hostTarget, isShorter } from './pair.ts'
import { finishReplacement, replacementOn } from './replacement.ts'
import { LABELS, SWITCHES, stampedUid } from './stamps.ts'
import type { View } from './view.ts'

/** How long creation waits for a required reference that is not in the log yet, e.g. a ConfigMap created just before. */
const REFERENCE_WAIT_MS = 1_000

/**
 * Decides what follows from the state of one virtual object and its host copy. Level-triggered: it looks at states,
 * never at events; the same view gives the same decisions, and two sides that agree give none.
 * @param users kinds whose objects may refer to those of this one, where it crosses only while used
 */
export function decide(view: View, kind: Kind, users: readonly Kind[] = []): Decision[] {
  const pair = new Pair(view, kind, users)
  // First of all: whatever else is to become of a copy is decided by its stamps.
  const { restamp } = pair
  if (restamp !== undefined) return [restamp]
  const virtual = view.virtual.object
  if (virtual === undefined) return withoutVirtual(pair)
  const exclusion = exclusionOf(pair, virtual)
  if (exclusion === 'unknown') return []
  if (exclusion !== undefined) return excluded(pair, virtual, exclusion)
  if (virtual.metadata.deletionTimestamp !== undefined) return virtualTerminating(pair, virtual)
  if (pair.nameTaken !== undefined) return madeRoom(pair, virtual) ?? [pair.nameTaken]
  return pair.copy === undefined ? withoutCopy(pair, virtual) : both(pair, virtual, pair.copy)
}

/**
 * Why a tenant's object is not to be on the host, if so; `unknown` while that cannot be told.
 * @param users as in {@link decide}
 */
export function exclusionIn(view: View, kind: Kind, users: readonly Kind[] = []): Rule | 'unknown' | undefined {
  const virtual = view.virtual.object
  return virtual === undefined ? undefined : exclusionOf(new Pair(view, kind, users), virtual)
}

/** Why the object is not to be on the host, if so. */
function exclusionOf(pair: Pair, virtual: KubeObject): Rule | 'unknown' | undefined {
  const { view, kind } = pair
  const { related, tenant } = view
  if (!kind.isEnabled(tenant.config)) return 'disabled'
  if (!crosses(view)) return 'excluded'
  // A class that we copied from the host is not the tenant's.
  if (view.original !== undefined && view.key.namespace === '' && virtual.metadata.labels?.[LABELS.mirror] === 'true')
    return 'excluded'
  const wish = virtual.metadata.annotations?.[SWITCHES.sync]
  if (wish === 'false') return 'excluded'
  const excluded = kind.excluded(virtual, related)
  if (excluded !== false) return excluded === 'unknown' ? 'unknown' : 'excluded'
  if (!kind.onlyWhileUsed || wish === 'true' || kind.crossesUnused?.(tenant.config) === true) return undefined
  return pair.isUsed ? undefined : 'unused'
}

/** Whether the object's namespace, or the namespace itself, is one that has its place on the host. */
function crosses({ key, tenant }: View): boolean {
  if (!hasOwnNamespaces(tenant) || !tenant.config.sync.toHost.namespaces.mappingsOnly) return true
  const namespace = key.resource === 'namespaces' ? key.name : key.namespace
  return namespace === '' || isNamespaceMapped(namespace, tenant)
}

/** Deletes what the host made for another copy and has left under the name of this one. */
function madeRoom(pair: Pair, virtual: KubeObject): Decision[] | undefined {
  const { view, kind } = pair
  const { tenant, related } = view
  const host = view.host.object
  if (host === undefined || kind.isDerived?.({ virtual, host, tenant, related }) !== true) return undefined
  return pair.deleteHost(host, 'handedOver', { proof: { kind: 'state', seq: view.host.seq } })
}

function withoutVirtual(pair: Pair): Decision[] {
  const host = pair.copy
  if (host === undefined) return []
  const gone = pair.view.virtual.gone
  const replacement = replacementOn(host)
  const isKnown = gone !== undefined || pair.view.related.synced('virtual', pair.view.key.resource)
  if (replacement !== undefined && isKnown && (gone === undefined || gone.uid === replacement.uid)) {
    return [pair.write(pair.virtualTarget, finishReplacement(replacement, host), 'replace')]
  }
  if (gone !== undefined && gone.uid === stampedUid(host)) {
    return pair.deleteHost(host, 'virtualGone', { proof: { kind: 'tombstone', seq: gone.seq } })
  }
  // A copy whose original we never saw: only the tenant's API can say whether it exists.
  if (!pair.view.related.synced('virtual', pair.view.key.resource)) return []
  const counterpart = { tenant: pair.view.tenant.name, ...pair.virtualTarget }
  const uid = stampedUid(host)
  const proof: DeleteProof = { kind: 'confirm-absent', counterpart, ...(uid === undefined ? {} : { uid }) }
  return pair.deleteHost(host, 'virtualNeverSeen', { proof })
}

function excluded(pair: Pair, virtual: KubeObject, rule: Rule): Decision[] {
  const { view, kind } = pair
  const proof: DeleteProof = { kind: 'state', seq: view.virtual.seq }
  const host = pair.copy
  if (host === undefined) {
    const terminating = virtual.metadata.deletionTimestamp !== undefined
    if (isPlacedInTenant(pair, virtual)) return []
    return kind.lifecycle === 'pod' && terminating ? removeVirtual(pair, virtual, 'virtualTerminating') : []
  }
  // Whether something uses the object can be told only once all that may is known.
  if (rule === 'unused' && !pair.areUsersKnown) {
    return []
  }
  return pair.deleteHost(host, rule, { proof })
}

function virtualTerminating(pair: Pair, virtual: KubeObject): Decision[] {
  const { view, kind } = pair
  const proof: DeleteProof = { kind: 'state', seq: view.virtual.seq }
  const host = pair.copy
  if (kind.lifecycle === 'plain') {
    if (host === undefined) return []
    const replacement = replacementOn(host)
    // We deleted it, and its finalizers keep it for a while.
    if (replacement !== undefined && replacement.uid === virtual.metadata.uid) {
      return [pair.write(pair.virtualTarget, finishReplacement(replacement, host), 'replace')]
    }
    // What is in it goes first, each object in its own way.
    if (kind.endsWithOriginal === true) return []
    return pair.deleteHost(host, 'virtualTerminating', { proof })
  }
  if (host === undefined && runsInTenant(pair, virtual)) return []
  if (host === undefined) return [...removeVirtual(pair, virtual, 'virtualTerminating'), ...release(pair, virtual)]
  if (stampedUid(host) !== virtual.metadata.uid) return pair.deleteHost(host, 'virtualReplaced', { proof })
  const decisions = pair.deleteHost(host, 'virtualTerminating', {
    proof,
    gracePeriodSeconds: virtual.metadata.deletionGracePeriodSeconds,
  })
  const hostGrace = host.metadata.deletionGracePeriodSeconds
  if (host.metadata.deletionTimestamp !== undefined && isShorter(hostGrace, virtual)) {
    const options = { proof: { kind: 'state' as const, seq: view.host.seq }, gracePeriodSeconds: hostGrace }
    decisions.push(pair.deleteVirtual(virtual, 'hostTerminating', options))
  }
  // The tenant follows how its pod goes: status still comes back while it terminates.
  const back = kind.reconcile(pair.input(virtual, host)).filter(({ side }) => side === 'virtual')
  return [...decisions, ...back.map((change) => pair.fromKind(change))]
}

function withoutCopy(pair: Pair, virtual: KubeObject): Decision[] {
  const { view, kind } = pair
  if (runsInTenant(pair, virtual)) return []
  if (kind.lifecycle === 'pod' && hasRun(virtual, view, kind)) {
    // Until all copies are known, one that is not there may only not have been seen yet.
    const known = hostIsGone(view, virtual) || view.related.synced('host', view.key.resource)
    return known ? removeVirtual(pair, virtual, 'hostGone') : []
  }
  const missing = kind.requiredReferences(virtual, view.tenant).filter((ref) => view.related.virtual(ref) === undefined)
  if (missing.length > 0 && view.waitedMs < REFERENCE_WAIT_MS) {
    return [{ kind: 'wait', refs: missing, limitMs: REFERENCE_WAIT_MS }]
  }
  const desired = kind.toHost({ virtual, tenant: view.tenant, related: view.related })
  if (desired.kind === 'reject') return [desired]
  return [
    {
      kind: 'write',
      target: pair.hostTarget,
      write: {
        op: 'create',
        body: desired.object,
        ...(desired.tokens === undefined ? {} : { tokens: desired.tokens }),
      },
      rule: 'create',
      needs: [...placeOf(view), ...kind.references({ virtual }), ...(desired.needs ?? [])].map((ref) =>
        hostTarget(view, ref),
      ),
      ...(desired.base === undefined ? {} : { base: desired.base }),
    },
  ]
}

/** The namespace that must be on the host before what is in it. */
function placeOf({ key, tenant }: View): ObjectRef[] {
  const isInside = key.namespace !== '' && hasOwnNamespaces(tenant)
  return isInside ? [{ resource: 'namespaces', namespace: '', name: key.namespace }] : []
}

/**
 * Whether this very pod had a copy before: its end is in the log, or a kubelet has once started it. Such a pod is not
 * run a second time.
 */
function hasRun(virtual: KubeObject, view: View, kind: Kind): boolean {
  if (hostIsGone(view, virtual)) return true
  return kind.hasRun?.(virtual, view.related) ?? asObject(virtual.status)?.startTime !== undefined
}

/** Whether the tenant's own nodes run the object: that is none of our business. */
function runsInTenant(pair: Pair, virtual: KubeObject): boolean {
  return isPlacedInTenant(pair, virtual) && hasRun(virtual, pair.view, pair.kind)
}

function isPlacedInTenant({ view, kind }: Pair, virtual: KubeObject): boolean {
  return kind.isPlacedInTenant?.(virtual, view.related) === true && !hostIsGone(view, virtual)
}

/** Lets go of what only its copy kept. */
function release(pair: Pair, virtual: KubeObject): Decision[] {
  const { view, kind } = pair
  const isKnown = hostIsGone(view, virtual) || view.related.synced('host', view.key.resource)
  return isKnown ? (kind.release?.(virtual, view.related) ?? []).map((change) => pair.fromKind(change)) : []
}

function hostIsGone({ host }: View, virtual: KubeObject): boolean {
  return host.gone?.virtualUid !== undefined && host.gone.virtualUid === virtual.metadata.uid
}

function both(pair: Pair, virtual: KubeObject, host: KubeObject): Decision[] {
  const { view, kind } = pair
  const going = host.metadata.deletionTimestamp !== undefined
  if (kind.lifecycle === 'pod') {
    if (stampedUid(host) !== virtual.metadata.uid) {
      return pair.deleteHost(host, 'virtualReplaced', { proof: { kind: 'state', seq: view.virtual.seq } })
    }
    if (going) {
      const gracePeriodSeconds = host.metadata.deletionGracePeriodSeconds
      const proof: DeleteProof = { kind: 'state', seq: view.host.seq }
      return [pair.deleteVirtual(virtual, 'hostTerminating', { proof, gracePeriodSeconds })]
    }
  } else if (going) {
    return []
  }
  const paused = virtual.metadata.annotations?.[SWITCHES.pause] === 'true'
  const input = pair.input(virtual, host)
  const writes = kind
    .reconcile(input)
    .filter(({ side }) => !paused || side === 'virtual')
    .map((change) => pair.fromKind(change))
  const proof: DeleteProof = { kind: 'state', seq: view.virtual.seq }
  for (const { ref, object } of kind.leftBehind?.(input) ?? []) {
    const { uid = '' } = object.metadata
    writes.push(pair.write({ side: 'host', ...ref }, { op: 'delete', uid, proof }, 'handedOver'))
  }
  const disagreement = kind.disagreement?.(input)
  return disagreement === undefined ? writes : [...writes, { kind: 'reject', ...disagreement }]
}

/** Takes the tenant's pod away once its host copy is gone: grace 0, since nothing runs any more. */
function removeVirtual(pair: Pair, virtual: KubeObject, rule: Rule): Decision[] {
  const { metadata } = virtual
  if (metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0) return []
  return [pair.deleteVirtual(virtual, rule, { proof: absenceProof(pair, virtual), gracePeriodSeconds: 0 })]
}

function absenceProof(pair: Pair, virtual: KubeObject): DeleteProof {
  const { host, tenant } = pair.view
  if (host.gone !== undefined && hostIsGone(pair.view, virtual)) return { kind: 'tombstone', seq: host.gone.seq }
  // Where another object has the name, the copy is not there.
  if (pair.nameTaken !== undefined) return { kind: 'state', seq: host.seq }
  return { kind: 'confirm-absent', counterpart: { tenant: tenant.name, ...pair.hostTarget } }
}
