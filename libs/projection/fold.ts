import type { LoggedChange } from '#libs/events'
import { jsonEqual } from '#libs/kernel'
import type { KubeObject, ObjectKey, ObjectRef } from '#libs/kube-model'
import {
  followersOf,
  followsReference,
  informs,
  isDecided,
  kindFor,
  kindsFollowing,
  mirrorsUsedBy,
  reasonsEndedBy,
  referencesOf,
  serviceOfDerived,
  stampedUid,
  virtualRefOf,
  wakingState,
} from '#libs/translation'
import type { StoredObject } from './object-table.ts'
import type { DecisionKey } from './pending-table.ts'
import type { Projection } from './projection.ts'

/** The virtual key that an object in a tenant's place on the host stands for: by what it was made as, else by its stamps. */
export function ownerOf(projection: Projection, key: ObjectKey, host: KubeObject): DecisionKey | undefined {
  const made = projection.copies.get(key)
  return made !== undefined && made.uid === host.metadata.uid
    ? { tenant: key.tenant, ref: made.ref }
    : decisionKeyOf(key.tenant, host, key.resource)
}

/** The virtual key that a host copy stands for, if it is the tenant's and of this resource. */
function decisionKeyOf(tenant: string, host: KubeObject, resource: string): DecisionKey | undefined {
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
  const stamped = decisionKeyOf(key.tenant, object, key.resource)
  const isNew = projection.copies.get(key)?.uid !== change.uid
  // What is whole when it is seen first is ours, as far as anybody can tell.
  if (isNew && stamped !== undefined && change.type !== 'DELETED') {
    const stampOf = stampedUid(object)
    const of = stampOf === undefined ? {} : { virtualUid: stampOf }
    projection.noteCopy(key, { uid: change.uid, ref: stamped.ref, ...of })
  }
  // Where the stamps have changed, the object that they named before has lost its copy.
  const owners = [object, before?.object].flatMap((state) => {
    const owner = state === undefined ? undefined : ownerOf(projection, key, state)
    return owner === undefined ? [] : [owner]
  })
  const virtualUid = originalUid(projection, change, { object, before })
  if (change.type === 'DELETED') projection.copies.forget(key, change.uid)
  const after = store(projection, change, { object, virtualUid })
  const states = { resource: key.resource, before: before?.object, after: after.object }
  return [
    ...derivedFor(projection, key, object),
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

/** The Service that the host's controllers made something for, where it has no selector: they may have left that behind. */
function derivedFor(projection: Projection, key: ObjectKey, object: KubeObject): DecisionKey[] {
  const ref = serviceOfDerived(key.resource, object)
  if (ref === undefined) return []
  const place = { tenant: key.tenant, side: 'host', ...ref } as const
  const copy = projection.objects.peek(place)?.object
  const hasSelector = (copy?.spec as { selector?: object } | undefined)?.selector !== undefined
  const owner = copy === undefined || hasSelector ? undefined : ownerOf(projection, place, copy)
  return owner === undefined ? [] : [owner]
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

/** The uid of the original of a host object, whose stamps may be gone or changed. */
function originalUid(
  projection: Projection,
  { key, uid }: LoggedChange,
  { object, before }: { object: KubeObject; before: StoredObject | undefined },
): string | undefined {
  const made = projection.copies.get(key)
  // A pod's copy is of one pod for life; others are stamped anew when the tenant makes their original anew.
  const isForLife = kindFor(key.resource)?.lifecycle === 'pod'
  if (isForLife && made?.uid === uid && made.virtualUid !== undefined) return made.virtualUid
  // Of an object that is gone, no more may be told than its name and uid.
  const earlier = before?.object === undefined ? before?.virtualUid : stampedUid(before.object)
  return stampedUid(object) ?? (before?.uid === uid ? earlier : undefined)
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
      const parked = projection.pending.parkedFor(tenant, reason)
      if (parked.length > 0) projection.pending.wake({ tenant, reason })
      return parked
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
  const last = isGone ? lastVersion(projection, change) : resourceVersion
  const stored = { uid, resourceVersion: last, seq, ...stamp, ...gone }
  return projection.objects.put(change.key, stored, isGone ? undefined : object)
}

/**
 * The version at which an object was there last. One that is gone at an earlier version than it was seen at is missing
 * from an earlier state of its cluster.
 */
function lastVersion(projection: Projection, { key, uid, resourceVersion }: LoggedChange): string {
  const before = projection.objects.peek(key)
  const isEarlier = before?.uid === uid && Number(before.resourceVersion) > Number(resourceVersion)
  if (!isEarlier) return resourceVersion
  projection.vanished.doubt(key.tenant, key.side)
  return before.resourceVersion
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

const MISS: ReadonlySet<string> = new Set(['waiting', 'noted'])

/** Objects that wait for this one, or of which it is known that they miss something. */
function waitingUsers(projection: Projection, tenant: string, ref: ObjectRef): DecisionKey[] {
  return projection.references
    .usersOf(tenant, ref)
    .map((user) => ({ tenant, ref: user }))
    .filter((user) => projection.pending.of(user).some((row) => MISS.has(row.state)))
}
