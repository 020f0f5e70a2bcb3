import type { Write } from '#libs/events'
import type { KubeObject } from '#libs/kube-model'
import type { Decision, Rule } from '../../decision.ts'
import { asName, asObject, presentFields } from '../../json.ts'
import { mergePatchOf } from '../../merge-patch.ts'
import { hostRefOf } from '../../names.ts'
import { LABELS, stampedUid, virtualRefOf } from '../../stamps.ts'
import type { View } from '../../view.ts'
import { type Claim, standInFor } from './stand-in.ts'

/**
 * Decides about a volume that stands for one of the host: it is there while the host has bound one of the tenant's
 * claims to it. A volume of that name that the tenant made itself is left alone.
 */
export function decideStandIn(view: View): Decision[] {
  const volume = view.virtual.object
  const claim = claimOf(view)
  if (volume === undefined) {
    return claim === undefined ? [] : [write(view, { op: 'create', body: standInFor(view.key.name, claim) }, 'mirror')]
  }
  if (volume.metadata.labels?.[LABELS.mirror] !== 'true') return []
  if (volume.metadata.deletionTimestamp !== undefined) return claim === undefined ? release(view, volume) : []
  if (claim === undefined) return remove(view, volume)
  return update(view, volume, claim)
}

/** The claim that the host has bound to this volume, as long as the tenant has it. */
function claimOf({ key, tenant, related }: View): Claim | undefined {
  // A volume of the tenant's own needs nothing to stand for it.
  const copy = related.host(key)
  if (copy !== undefined && virtualRefOf(copy) !== undefined) return undefined
  for (const user of related.usersOf(key)) {
    const virtual = related.virtual(user)
    const host = related.host(hostRefOf(user, tenant))
    if (virtual === undefined || host === undefined || stampedUid(host) !== virtual.metadata.uid) continue
    if (asObject(host.spec)?.volumeName === key.name && isBound({ virtual, host }, key.name)) return { virtual, host }
  }
  return undefined
}

/**
 * Whether a claim is bound to this volume, and not only asks for it by its name: one that the tenant's controllers have
 * bound to another volume would be taken off this one again, without end.
 */
function isBound({ virtual, host }: Claim, name: string): boolean {
  const phase = asObject(host.status)?.phase
  const own = asName(asObject(virtual.spec)?.volumeName)
  return (phase === 'Bound' || phase === 'Lost') && (own === undefined || own === name)
}

function update(view: View, volume: KubeObject, claim: Claim): Decision[] {
  const wanted = standInFor(view.key.name, claim)
  const uid = volume.metadata.uid ?? ''
  const decisions: Decision[] = []
  const { capacity, claimRef } = asObject(wanted.spec) ?? {}
  const current = asObject(volume.spec) ?? {}
  const { resourceVersion: _version, ...claimant } = asObject(current.claimRef) ?? {}
  const spec = mergePatchOf(
    presentFields({ capacity: current.capacity, claimRef: claimant }) ?? {},
    presentFields({ capacity, claimRef }) ?? {},
  )
  if (spec !== undefined) {
    decisions.push(write(view, { op: 'patch', patchType: 'merge', body: { spec }, uid }, 'mirror'))
  }
  if (asObject(volume.status)?.phase !== 'Bound') {
    const body = { status: { phase: 'Bound' } }
    decisions.push(write(view, { op: 'patch', patchType: 'merge', body, uid, subresource: 'status' }, 'mirror'))
  }
  return decisions
}

function remove(view: View, volume: KubeObject): Decision[] {
  const { related, virtual } = view
  // Who uses a volume is told by claims and their copies: all of them must be known first.
  const isKnown = (['virtual', 'host'] as const).every((side) => related.synced(side, 'persistentvolumeclaims'))
  if (!isKnown) return []
  const uid = volume.metadata.uid ?? ''
  return [write(view, { op: 'delete', uid, proof: { kind: 'state', seq: virtual.seq } }, 'mirrorUnused')]
}

/** Nothing but us keeps it: protection of volumes is for those that hold data. */
function release(view: View, volume: KubeObject): Decision[] {
  const { uid = '', resourceVersion, finalizers = [] } = volume.metadata
  const kept = finalizers.filter((finalizer) => finalizer !== 'kubernetes.io/pv-protection')
  if (kept.length === finalizers.length) return []
  const metadata = { finalizers: kept, ...(resourceVersion === undefined ? {} : { resourceVersion }) }
  return [write(view, { op: 'patch', patchType: 'merge', body: { metadata }, uid }, 'mirrorUnused')]
}

function write(view: View, write: Write, rule: Rule): Decision {
  return { kind: 'write', target: { side: 'virtual', ...view.key }, write, rule, needs: [] }
}
