import { cloneJson } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import type { DeleteOptions } from '../cluster-api.ts'
import { CLEANUP_FINALIZER, DEFINITIONS, withCondition } from '../custom-resources/definition.ts'
import type { Definition } from '../custom-resources/definition.ts'
import type { ApiResource } from '../discovery/resources.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import type { Cluster } from './cluster.ts'
import { timeText } from './cluster.ts'
import { requireMortalNamespace } from './namespace-lifecycle.ts'
import { requireObject } from './update.ts'
import type { ObjectTarget } from './update.ts'

export type DeleteRequest = DeleteOptions & {
  dryRun?: boolean
  /** The older way to say `propagationPolicy: Orphan`. */
  orphanDependents?: boolean
}

export type DeleteResult = {
  object: KubeObject
  /** False while finalizers or the grace period hold the object. */
  isGone: boolean
}

const DEFAULT_GRACE_SECONDS = 30

/**
 * Deletes an object, or marks it as being deleted when finalizers or a grace period hold it.
 * @throws ApiError 404, 409 when a precondition fails, 403 for namespaces that stay
 */
export function deleteObject(cluster: Cluster, target: ObjectTarget, request: DeleteRequest): DeleteResult {
  const stored = requireObject(cluster, target)
  checkPreconditions(target.resource, stored, request)
  if (target.resource.token === 'namespaces') {
    requireMortalNamespace(target.name)
    return terminateNamespace(cluster, stored, request)
  }
  if (target.resource.token === DEFINITIONS) return terminateDefinition(cluster, stored, request)
  const finalizers = finalizersAfter(stored.object.metadata.finalizers ?? [], request)
  const isFirst = stored.object.metadata.deletionTimestamp === undefined
  const graceSeconds = graceOf(target.resource, stored.object, request)
  if (finalizers.length === 0 && graceSeconds === 0) return remove(cluster, target.resource, stored, request)
  const recorded = stored.object.metadata.deletionGracePeriodSeconds ?? 0
  if (!isFirst && graceSeconds >= recorded) return { object: stored.object, isGone: false }
  const object = cloneJson(stored.object)
  markDeleted(cluster, object, graceSeconds)
  if (finalizers.length === 0) delete object.metadata.finalizers
  else object.metadata.finalizers = finalizers
  return { object: write(cluster, stored, { type: 'MODIFIED', object, request }), isGone: false }
}

function checkPreconditions(resource: ApiResource, stored: StoredObject, request: DeleteRequest): void {
  const { uid, resourceVersion } = request
  const found = stored.object.metadata
  // Unlike other conflicts this one names the Kind.
  const kind = { group: resource.group, plural: resource.kind }
  if (uid !== undefined && uid !== found.uid) {
    throw ApiError.conflict(
      kind,
      stored.name,
      `the UID in the precondition (${uid}) does not match the UID in record (${found.uid ?? ''}). The object might have been deleted and then recreated`,
    )
  }
  if (resourceVersion !== undefined && resourceVersion !== found.resourceVersion) {
    throw ApiError.conflict(
      kind,
      stored.name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${found.resourceVersion ?? ''}). The object might have been modified`,
    )
  }
}

/** Propagation is done by the garbage collector, which these finalizers make wait or let go. */
function finalizersAfter(current: readonly string[], request: DeleteRequest): string[] {
  const policy = request.propagationPolicy ?? (request.orphanDependents === true ? 'Orphan' : undefined)
  if (policy === undefined && request.orphanDependents === undefined) return [...current]
  const own = current.filter((finalizer) => finalizer !== 'orphan' && finalizer !== 'foregroundDeletion')
  if (policy === 'Orphan') return [...own, 'orphan']
  return policy === 'Foreground' ? [...own, 'foregroundDeletion'] : own
}

/** Seconds the object stays after this request; a second request can only shorten them. */
function graceOf(resource: ApiResource, object: KubeObject, request: DeleteRequest): number {
  if (resource.token !== 'pods') return 0
  const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata
  const spec = (object['spec'] ?? {}) as { nodeName?: string; terminationGracePeriodSeconds?: number }
  const phase = (object['status'] as { phase?: string } | undefined)?.phase
  if (!spec.nodeName || phase === 'Succeeded' || phase === 'Failed') return 0
  if (deletionTimestamp !== undefined && request.gracePeriodSeconds === undefined) {
    return deletionGracePeriodSeconds ?? 0
  }
  const asked = request.gracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS
  return asked < 0 ? 1 : asked
}

function markDeleted(cluster: Cluster, object: KubeObject, graceSeconds: number): void {
  const { metadata } = object
  const before = metadata.deletionGracePeriodSeconds
  if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = timeText(cluster.clock.now() + graceSeconds * 1000)
    if (metadata.generation !== undefined) metadata.generation += 1
  } else if (before !== undefined && before !== graceSeconds) {
    metadata.deletionTimestamp = timeText(Date.parse(metadata.deletionTimestamp) - (before - graceSeconds) * 1000)
  }
  metadata.deletionGracePeriodSeconds = graceSeconds
}

function remove(cluster: Cluster, resource: ApiResource, stored: StoredObject, request: DeleteRequest): DeleteResult {
  if (resource.token === 'pods') return removePod(cluster, stored, request)
  const object = cloneJson(stored.object)
  return { object: write(cluster, stored, { type: 'DELETED', object, request }), isGone: true }
}

/** Kubelets learn from the period of 0 that the pod is gone for good, so watchers see that before the deletion. */
function removePod(cluster: Cluster, stored: StoredObject, request: DeleteRequest): DeleteResult {
  let { object } = stored
  if (object.metadata.deletionGracePeriodSeconds !== 0) {
    const marked = cloneJson(object)
    markDeleted(cluster, marked, 0)
    object = write(cluster, stored, { type: 'MODIFIED', object: marked, request })
  }
  return { object: write(cluster, stored, { type: 'DELETED', object: cloneJson(object), request }), isGone: true }
}

/** A namespace is only marked: its controller empties it and then takes the finalizer off. */
function terminateNamespace(cluster: Cluster, stored: StoredObject, request: DeleteRequest): DeleteResult {
  const spec = (stored.object['spec'] ?? {}) as { finalizers?: string[] }
  const isHeld = (spec.finalizers ?? []).length > 0 || (stored.object.metadata.finalizers ?? []).length > 0
  if (stored.object.metadata.deletionTimestamp !== undefined) {
    if (isHeld) return { object: stored.object, isGone: false }
    return {
      object: write(cluster, stored, { type: 'DELETED', object: cloneJson(stored.object), request }),
      isGone: true,
    }
  }
  const object = cloneJson(stored.object)
  object.metadata.deletionTimestamp = timeText(cluster.clock.now())
  object['status'] = { ...(object['status'] as object | undefined), phase: 'Terminating' }
  return { object: write(cluster, stored, { type: 'MODIFIED', object, request }), isGone: false }
}

/** A definition is only marked: its controller deletes its objects and then takes the finalizer off. */
function terminateDefinition(cluster: Cluster, stored: StoredObject, request: DeleteRequest): DeleteResult {
  const object = cloneJson(stored.object) as Definition
  if (object.metadata.deletionTimestamp !== undefined) return { object: stored.object, isGone: false }
  const now = timeText(cluster.clock.now())
  object.metadata.deletionTimestamp = now
  const finalizers = finalizersAfter(object.metadata.finalizers ?? [], request)
  object.metadata.finalizers = [...new Set([...finalizers, CLEANUP_FINALIZER])]
  const terminating = {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  } as const
  object.status = { ...object.status, conditions: withCondition(object.status?.conditions, terminating, now) }
  return { object: write(cluster, stored, { type: 'MODIFIED', object, request }), isGone: false }
}

function write(
  cluster: Cluster,
  stored: StoredObject,
  change: { type: 'MODIFIED' | 'DELETED'; object: KubeObject; request: DeleteRequest },
): KubeObject {
  if (change.request.dryRun === true) return change.object
  const { resource, namespace, name } = stored
  return cluster.store.write({ type: change.type, resource, namespace, name, object: change.object }).object
}
