import type { LoggedChange } from '#libs/events'
import { jsonEqual } from '#libs/kernel'
import type { KubeObject, ObjectRef } from '#libs/kube-model'
import {
  followersOf,
  followsReference,
  informs,
  isDecided,
  kindsFollowing,
  mirrorsUsedBy,
  reasonsEndedBy,
  referencesOf,
  stampedUid,
  virtualRefOf,
  wakingState,
} from '#libs/translation'
import type { StoredObject } from './object-table.ts'
import type { DecisionKey } from './pending-table.ts'
import type { Projection } from './projection.ts'

/** The virtual key that a host copy stands for, if it is the tenant's and of this resource. */
export function decisionKeyOf(tenant: string, host: KubeObject, resource: string): DecisionKey | undefined {
  const owner = virtualRefOf(host)
  return owner?.tenant === tenant && owner.ref.resource === resource ? { tenant, ref: owner.ref } : undefined
}

/** Takes in a change of a tenant's object. */
export function foldVirtual(projection: Projection, change: LoggedChange): DecisionKey[] {
  const { key } = change
  const { tenant, resource, namespace, name } = key
  const ref: ObjectRef = { resource, namespace, name }
  const before = projection.objects.peek(key)
  const after = store(projection, change, { object: change.object() })
  const dirty: DecisionKey[] = isDecided(resource) ? [{ tenant, ref }] : []
  for (const follower of followersOf(resource)) dirty.push({ tenant, ref: { ...ref, resource: follower } })
  dirty.push(...refreshReferences(projection, tenant, ref), ...followingUsers(projection, tenant, ref))
  dirty.push(...informed(projection, tenant, ref))
  if (before?.object === undefined && after.object !== undefined) dirty.push(...waitingUsers(projection, tenant, ref))
  dirty.push(...wokenBy(projection, [tenant], { resource, before: before?.object, after: after.object }))
  if (resource === 'namespaces' && !jsonEqual(before?.object?.metadata.labels, after.object?.metadata.labels)) {
    const pods = projection.objects.listIn({ tenant, side: 'virtual', resource: 'pods', namespace: name })
    dirty.push(...pods.map((pod) => ({ tenant, ref: pod })))
  }
  return dirty
}

/** Takes in a change of a tenant's host copy. */
export function foldHost(projection: Projection, change: LoggedChange): DecisionKey[] {
  const { key } = change
  const before = projection.objects.peek(key)
  const object = change.object()
  // Where the stamps have changed, the object that they named before has lost its copy.
  const owners = [object, before?.object].flatMap((state) => {
    const owner = state === undefined ? undefined : decisionKeyOf(key.tenant, state, key.resource)
    return owner === undefined ? [] : [owner]
  })
  // Of an object that is gone, no more may be told than its name and uid.
  const earlier = before?.object === undefined ? before?.virtualUid : stampedUid(before.object)
  const virtualUid = stampedUid(object) ?? (before?.uid === change.uid ? earlier : undefined)
  const after = store(projection, change, { object, virtualUid })
  const states = { resource: key.resource, before: before?.object, after: after.object }
  return [
    ...distinct(owners).flatMap((owner) => [
      owner,
      ...refreshReferences(projection, key.tenant, owner.ref),
      ...followingUsers(projection, key.tenant, owner.ref),
      ...informed(projection, key.tenant, owner.ref),
    ]),
    ...wokenBy(projection, [key.tenant], states),
    ...wokenByRoom(projection, key.tenant, states),
  ]
}

/** How much of what a quota holds back is tried when something of the tenant has made room. */
const TRIED_FOR_ROOM = 10

/** What waits for a quota, when a copy no longer counts: it is gone, or a pod that has ended. */
function wokenByRoom(
  projection: Projection,
  tenant: string,
  { before, after }: { before: KubeObject | undefined; after: KubeObject | undefined },
): DecisionKey[] {
  if (before === undefined || hasEnded(before) || !(after === undefined || hasEnded(after))) return []
  return projection.pending.wake({ tenant, reason: 'QuotaExceeded', side: 'host', limit: TRIED_FOR_ROOM })
}

function hasEnded({ kind, status }: KubeObject): boolean {
  const phase = kind === 'Pod' ? (status as { phase?: string } | undefined)?.phase : undefined
  return phase === 'Succeeded' || phase === 'Failed'
}

function distinct(keys: DecisionKey[]): DecisionKey[] {
  const [first, second] = keys
  return first !== undefined && jsonEqual(first, second) ? [first] : keys
}

/** Takes in a change of a host object that concerns all tenants. */
export function foldHostShared(projection: Projection, change: LoggedChange): DecisionKey[] {
  const { key } = change
  const ref: ObjectRef = { resource: key.resource, namespace: key.namespace, name: key.name }
  const before = projection.objects.peek(key)?.object
  const after = store(projection, change, { object: change.object() }).object
  const shown = projection.tenants().filter((tenant) => projection.showsAll(tenant, ref.resource))
  const tenants = [...new Set([...projection.references.tenantsUsing(ref), ...shown])]
  const woken = wokenBy(projection, projection.tenants(), { resource: key.resource, before, after })
  const copies = tenants.flatMap((tenant) => projection.copiesOf(tenant, ref).map((copy) => ({ tenant, ref: copy })))
  return [...copies, ...woken]
}

/** What is parked for a reason that an object may end by what it has become. */
function wokenBy(
  projection: Projection,
  tenants: readonly string[],
  state: { resource: string; before: KubeObject | undefined; after: KubeObject | undefined },
): DecisionKey[] {
  const { before, after } = state
  const reasons = reasonsEndedBy(state.resource)
  if (reasons.length === 0 || after === undefined) return []
  if (before !== undefined && jsonEqual(wakingState(state.resource, before), wakingState(state.resource, after))) {
    return []
  }
  return tenants.flatMap((tenant) =>
    reasons.flatMap((reason) => {
      projection.pending.wake({ tenant, reason })
      return projection.pending.parkedFor(tenant, reason)
    }),
  )
}

/** @param state the object, parsed once, and the uid of the original that a copy carries */
function store(
  projection: Projection,
  change: LoggedChange,
  state: { object: KubeObject; virtualUid?: string | undefined },
): StoredObject {
  const { uid, resourceVersion, seq } = change
  const { object, virtualUid } = state
  const isGone = change.type === 'DELETED'
  const stamp = virtualUid === undefined ? {} : { virtualUid }
  const gone = isGone ? { goneAt: change.storedAt } : {}
  const stored = { uid, resourceVersion, seq, ...stamp, ...gone }
  return projection.objects.put(change.key, stored, isGone ? undefined : object)
}

/**
 * Brings the references of a virtual object up to date with both its sides.
 * @returns the keys of what it refers to since now, or no more
 */
export function refreshReferences(projection: Projection, tenant: string, ref: ObjectRef): DecisionKey[] {
  if (!isDecided(ref.resource)) return []
  const virtual = projection.objects.peek({ tenant, side: 'virtual', ...ref })?.object
  const host = projection.hostCopyOf(tenant, ref)
  const refs = referencesOf(ref.resource, { virtual, host }, projection.contextOf(tenant))
  // The copy still runs and still uses what its original referred to: that must not go before the copy does.
  const kept = virtual === undefined && host !== undefined ? projection.references.of(tenant, ref) : []
  const changed = projection.references.replace(tenant, ref, [...refs, ...kept])
  return changed.filter((target) => isDecided(target.resource)).map((target) => ({ tenant, ref: target }))
}

/** What an object refers to and what depends on how it is. */
function informed(projection: Projection, tenant: string, ref: ObjectRef): DecisionKey[] {
  if (mirrorsUsedBy(ref.resource).length === 0) return []
  return projection.references
    .of(tenant, ref)
    .filter((target) => informs(ref.resource, target.resource))
    .map((target) => ({ tenant, ref: target }))
}

/** Objects that refer to this one and depend on how it is. */
function followingUsers(projection: Projection, tenant: string, ref: ObjectRef): DecisionKey[] {
  if (kindsFollowing(ref.resource).length === 0) return []
  return [ref, { ...ref, name: '' }]
    .flatMap((target) => projection.references.usersOf(tenant, target))
    .filter((user) => followsReference(user.resource, ref.resource))
    .map((user) => ({ tenant, ref: user }))
}

/** Objects that wait for this one. */
function waitingUsers(projection: Projection, tenant: string, ref: ObjectRef): DecisionKey[] {
  return projection.references
    .usersOf(tenant, ref)
    .map((user) => ({ tenant, ref: user }))
    .filter((user) => projection.pending.of(user).some((row) => row.state === 'waiting'))
}
