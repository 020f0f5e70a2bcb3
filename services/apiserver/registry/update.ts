import { cloneJson, jsonEqual } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import type { FieldProblem } from '../api-error.ts'
import type { ApiResource } from '../discovery/resources.ts'
import { trackManagedFields } from '../managed-fields/index.ts'
import { applyDefaults } from '../schema/defaults.ts'
import { pruneUnknown } from '../schema/prune.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { strategyFor } from '../strategy/index.ts'
import type { Cluster } from './cluster.ts'
import { timestamp } from './cluster.ts'
import { strategyContext } from './strategy-context.ts'
import type { WriteOptions } from './write-options.ts'

export type ObjectTarget = {
  resource: ApiResource
  /** Empty for cluster-scoped objects. */
  namespace: string
  name: string
}

/** The parts of an object that are written on their own. */
export type StoredPart = 'status' | 'finalize' | 'ephemeralcontainers' | 'resize'

export type UpdateRequest = {
  /**
   * Makes the new version from the stored one; gets a copy and may change it. A PUT returns its body, a patch the
   * patched copy.
   */
  produce: (current: KubeObject) => KubeObject
  /** Which part of the object the write may touch. */
  subresource?: StoredPart | undefined
  /** A wrong uid in the body is a conflict (PUT) or an invalid change (patch). */
  isPatch?: boolean
  options: WriteOptions
}

/**
 * Changes an object: preconditions, defaults, validation, storage. A change that changes nothing is not stored. An
 * object that was waiting for its finalizers is removed when the last one goes.
 * @throws ApiError
 */
export function updateObject(cluster: Cluster, target: ObjectTarget, request: UpdateRequest): KubeObject {
  const { resource, namespace, name } = target
  const stored = requireObject(cluster, target)
  const previous = stored.object
  const next = request.produce(cloneJson(previous))
  checkIdentity(target, next)
  checkPreconditions(target, { next, previous, isPatch: request.isPatch === true })
  carryMetadata(resource, next, previous)
  pruneUnknown(resource, next)
  applyDefaults(resource, next)
  const part = request.subresource
  const isOwnPart = part === 'ephemeralcontainers' || part === 'resize'
  const strategy = resource.custom?.strategy ?? strategyFor(isOwnPart ? `${resource.token}/${part}` : resource.token)
  if (request.subresource === 'status') strategy.prepareStatusUpdate(next, previous)
  else if (request.subresource === 'finalize') keepAllButFinalizers(next, previous)
  else strategy.prepareUpdate(next, previous, strategyContext(cluster))
  const problems = strategy.validate(next, previous)
  if (problems.length > 0) throw ApiError.invalid(resource, name, problems)
  if (request.options.isApply !== true)
    trackManagedFields(next, previous, {
      manager: request.options.manager,
      operation: 'Update',
      ...(request.subresource === undefined ? {} : { subresource: request.subresource }),
      time: timestamp(cluster),
      apiVersion: resource.apiVersion,
      custom: resource.custom,
    })
  next.metadata.resourceVersion = previous.metadata.resourceVersion ?? ''
  if (isUnchanged(next, previous)) return previous
  if (request.options.dryRun === true) return next
  if (isFinished(next)) {
    // The answer is the object without the last finalizer, the event the one that was stored.
    cluster.store.write({ type: 'DELETED', resource: resource.token, namespace, name, object: cloneJson(previous) })
    return next
  }
  return cluster.store.write({ type: 'MODIFIED', resource: resource.token, namespace, name, object: next }).object
}

/** @throws ApiError 404 */
export function requireObject(cluster: Cluster, target: ObjectTarget): StoredObject {
  const stored = cluster.store.get(target.resource.token, target.namespace, target.name)
  if (stored === undefined) throw ApiError.notFound(target.resource, target.name)
  return stored
}

function checkIdentity(target: ObjectTarget, next: KubeObject): void {
  const metadata = (next.metadata ??= {})
  if (!metadata.name) {
    throw ApiError.badRequest(
      `the name of the object (${target.name} based on URL) was undeterminable: name must be provided`,
    )
  }
  if (metadata.name !== target.name) {
    throw ApiError.badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${target.name})`,
    )
  }
  if (target.resource.namespaced && metadata.namespace && metadata.namespace !== target.namespace) {
    throw ApiError.badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}

function checkPreconditions(
  target: ObjectTarget,
  versions: { next: KubeObject; previous: KubeObject; isPatch: boolean },
): void {
  const { next, previous, isPatch } = versions
  const { uid, resourceVersion } = next.metadata
  const stored = previous.metadata
  if (!isPatch && uid && uid !== stored.uid) throw uidConflict(target, uid, stored.uid ?? '')
  if (!resourceVersion || resourceVersion === '0') {
    if (!isPatch && target.resource.custom !== undefined) throw versionMissing(target)
    return
  }
  if (!/^\d+$/.test(resourceVersion)) {
    throw ApiError.internal(`strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`)
  }
  if (resourceVersion !== stored.resourceVersion) throw ApiError.staleVersion(target.resource, target.name)
}

/** Custom resources cannot be overwritten unseen. */
function versionMissing({ resource, name }: ObjectTarget): ApiError {
  const problem: FieldProblem = {
    reason: 'FieldValueInvalid',
    field: 'metadata.resourceVersion',
    message: 'Invalid value: 0: must be specified for an update',
  }
  return ApiError.invalid({ group: resource.group, kind: resource.plural }, name, [problem])
}

/** The message of etcd's precondition, which clients see as it is. */
export function uidConflict(target: ObjectTarget, wanted: string, found: string): ApiError {
  const key = `/registry/${target.resource.plural}/${target.namespace === '' ? '' : `${target.namespace}/`}${target.name}`
  return ApiError.conflict(
    target.resource,
    target.name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`,
  )
}

/** What an update cannot change is taken from the stored object. */
function carryMetadata(resource: ApiResource, next: KubeObject, previous: KubeObject): void {
  const { metadata } = next
  const stored = previous.metadata
  next.apiVersion = resource.apiVersion
  next.kind = resource.kind
  if (stored.namespace !== undefined) metadata.namespace = stored.namespace
  if (!metadata.uid && stored.uid !== undefined) metadata.uid = stored.uid
  if (stored.creationTimestamp !== undefined) metadata.creationTimestamp = stored.creationTimestamp
  if (stored.generation === undefined) delete metadata.generation
  else metadata.generation = stored.generation
  if (stored.deletionTimestamp !== undefined) metadata.deletionTimestamp = stored.deletionTimestamp
  if (stored.deletionGracePeriodSeconds === undefined) delete metadata.deletionGracePeriodSeconds
  else metadata.deletionGracePeriodSeconds = stored.deletionGracePeriodSeconds
  delete (metadata as { selfLink?: string }).selfLink
}

/** `namespaces/finalize` writes `spec.finalizers` and nothing else. */
function keepAllButFinalizers(next: KubeObject, previous: KubeObject): void {
  const finalizers = (next['spec'] as { finalizers?: string[] } | undefined)?.finalizers ?? []
  const { resourceVersion } = next.metadata
  for (const field of Object.keys(next)) delete next[field]
  Object.assign(next, cloneJson(previous))
  if (resourceVersion !== undefined) next.metadata.resourceVersion = resourceVersion
  const { finalizers: _, ...spec } = (next['spec'] ?? {}) as Record<string, unknown>
  next['spec'] = finalizers.length === 0 ? spec : { ...spec, finalizers }
}

function isUnchanged(next: KubeObject, previous: KubeObject): boolean {
  const plain = (object: KubeObject): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, managedFields: withoutTimes(object.metadata.managedFields ?? []) },
  })
  return jsonEqual(plain(next), plain(previous))
}

const withoutTimes = (fields: NonNullable<KubeObject['metadata']['managedFields']>): typeof fields =>
  fields.map(({ time: _, ...entry }) => entry)

/** Whether nothing holds a deleted object back any more. */
function isFinished(next: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = next.metadata
  if (deletionTimestamp === undefined || finalizers.length > 0) return false
  if ((deletionGracePeriodSeconds ?? 0) > 0) return false
  if (next.kind !== 'Namespace' || next.apiVersion !== 'v1') return true
  return ((next['spec'] as { finalizers?: string[] } | undefined)?.finalizers ?? []).length === 0
}
