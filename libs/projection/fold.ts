import type { LoggedChange } from '#libs/events'
import { jsonEqual } from '#libs/kernel'
import type { KubeObject, ObjectKey, ObjectRef } from '#libs/kube-model'
import { isDecided, referencesOf, stampedUid, virtualRefOf } from '#libs/translation'
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
  const ref: ObjectRef = { resource: key.resource, namespace: key.namespace, name: key.name }
  const before = projection.objects.get(key)
  const after = store(projection, change, undefined)
  const dirty: DecisionKey[] = isDecided(key.resource) ? [{ tenant: key.tenant, ref }] : []
  dirty.push(...refreshReferences(projection, key.tenant, ref))
  if (before?.object === undefined && after.object !== undefined)
    dirty.push(...waitingUsers(projection, key.tenant, ref))
  if (key.resource === 'namespaces' && !jsonEqual(before?.object?.metadata.labels, after.object?.metadata.labels)) {
    const pods = projection.objects.list({ tenant: key.tenant, side: 'virtual', resource: 'pods' }, key.name)
    dirty.push(...pods.map((pod) => ({ tenant: key.tenant, ref: pod })))
  }
  return dirty
}

/** Takes in a change of a tenant's host copy. */
export function foldHost(projection: Projection, change: LoggedChange): DecisionKey[] {
  const { key } = change
  const before = projection.objects.get(key)?.object
  const object = change.object()
  const owner =
    decisionKeyOf(key.tenant, object, key.resource) ??
    (before === undefined ? undefined : decisionKeyOf(key.tenant, before, key.resource))
  store(projection, change, stampedUid(object))
  if (owner === undefined) return []
  return [owner, ...refreshReferences(projection, key.tenant, owner.ref, key)]
}

/** Takes in a change of a host object that concerns all tenants. */
export function foldHostShared(projection: Projection, change: LoggedChange): DecisionKey[] {
  const { key } = change
  const ref: ObjectRef = { resource: key.resource, namespace: key.namespace, name: key.name }
  store(projection, change, undefined)
  return projection.references.tenantsUsing(ref).map((tenant) => ({ tenant, ref }))
}

function store(projection: Projection, change: LoggedChange, virtualUid: string | undefined): StoredObject {
  const { uid, resourceVersion, seq } = change
  const object = change.object()
  const kept = change.type === 'DELETED' ? undefined : object
  const stamp = virtualUid === undefined ? {} : { virtualUid }
  return projection.objects.put(change.key, { uid, resourceVersion, seq, ...stamp }, kept)
}

/** Brings the references of a virtual object up to date with both its sides. */
function refreshReferences(projection: Projection, tenant: string, ref: ObjectRef, hostKey?: ObjectKey): DecisionKey[] {
  if (!isDecided(ref.resource)) return []
  const virtual = projection.objects.get({ tenant, side: 'virtual', ...ref })?.object
  const host = hostKey === undefined ? projection.hostCopyOf(tenant, ref) : projection.objects.get(hostKey)?.object
  const refs = referencesOf(ref.resource, { virtual, host })
  // The copy still runs and still uses what its original referred to: that must not go before the copy does.
  const kept = virtual === undefined && host !== undefined ? projection.references.of(tenant, ref) : []
  const changed = projection.references.replace(tenant, ref, [...refs, ...kept])
  return changed.filter((target) => isDecided(target.resource)).map((target) => ({ tenant, ref: target }))
}

/** Objects that wait for this one. */
function waitingUsers(projection: Projection, tenant: string, ref: ObjectRef): DecisionKey[] {
  return projection.references
    .usersOf(tenant, ref)
    .map((user) => ({ tenant, ref: user }))
    .filter((user) => projection.pending.of(user).some((row) => row.state === 'waiting'))
}
