import type { KubeObject } from '#libs/kube-model'
import { applyLimitDefaults, checkLimits } from '../admission/limit-range.ts'
import { bookCharges, checkQuotas } from '../admission/quota.ts'
import { ApiError } from '../api-error.ts'
import type { ApiResource } from '../discovery/resources.ts'
import { trackManagedFields } from '../managed-fields/index.ts'
import { applyDefaults } from '../schema/defaults.ts'
import { pruneUnknown } from '../schema/prune.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { strategyFor } from '../strategy/index.ts'
import type { Cluster } from './cluster.ts'
import { timestamp } from './cluster.ts'
import { generateName } from './generated-name.ts'
import { requireActiveNamespace } from './namespace-lifecycle.ts'
import { strategyContext } from './strategy-context.ts'
import type { WriteOptions } from './write-options.ts'

export type CreateTarget = { resource: ApiResource; namespace: string }

/**
 * Makes an object: metadata, defaults, validation, storage.
 * @param object the caller's own; may be changed
 * @returns the object as stored, or as it would be with `dryRun`
 * @throws ApiError
 */
export function createObject(
  cluster: Cluster,
  target: CreateTarget,
  request: { object: KubeObject; options: WriteOptions },
): KubeObject {
  const { resource, namespace } = target
  const { object, options } = request
  const { store } = cluster
  if (resource.custom?.isTerminating === true) {
    throw ApiError.terminatingKind(resource)
  }
  initializeMetadata(cluster, target, object)
  pruneUnknown(resource, object)
  applyDefaults(resource, object)
  // Before the server adds its own: nobody owns what was allocated or set by admission.
  if (options.isApply !== true)
    trackManagedFields(object, undefined, {
      manager: options.manager,
      operation: 'Update',
      time: timestamp(cluster),
      apiVersion: resource.apiVersion,
      custom: resource.custom,
    })
  const strategy = resource.custom?.strategy ?? strategyFor(resource.token)
  const name = object.metadata.name ?? ''
  if (resource.namespaced) requireActiveNamespace(cluster, { resource, namespace, name: askedName(object) })
  if (resource.token === 'pods') applyLimitDefaults(store, namespace, object)
  strategy.prepareCreate(object, strategyContext(cluster))
  const problems = strategy.validate(object)
  if (problems.length > 0) throw ApiError.invalid(resource, name, problems)
  const existing = store.get(resource.token, namespace, name)
  if (existing !== undefined) throw alreadyExists(resource, existing)
  checkLimits(store, target, object)
  const charges = checkQuotas(store, target, object)
  if (options.dryRun === true) return object
  const stored = store.write({ type: 'ADDED', resource: resource.token, namespace, name, object }).object
  bookCharges(store, charges)
  return stored
}

/** A generated name is not in the message of a refusal. */
const askedName = (object: KubeObject): string =>
  object.metadata.generateName === undefined ? (object.metadata.name ?? '') : ''

function alreadyExists(resource: ApiResource, existing: StoredObject): ApiError {
  const isDeleting = existing.object.metadata.deletionTimestamp !== undefined
  return ApiError.alreadyExists(resource, existing.name, isDeleting)
}

/** Sets what only the server sets and drops what clients may not. */
function initializeMetadata(cluster: Cluster, target: CreateTarget, object: KubeObject): void {
  const { resource, namespace } = target
  object.apiVersion = resource.apiVersion
  object.kind = resource.kind
  const metadata = (object.metadata ??= {}) as KubeObject['metadata'] & { selfLink?: string }
  if (resource.namespaced) {
    if (metadata.namespace !== undefined && metadata.namespace !== '' && metadata.namespace !== namespace) {
      throw ApiError.badRequest('the namespace of the provided object does not match the namespace sent on the request')
    }
    metadata.namespace = namespace
  } else {
    delete metadata.namespace
  }
  if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== '') {
    throw ApiError.internal('resourceVersion should not be set on objects to be created')
  }
  delete metadata.resourceVersion
  delete metadata.selfLink
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  metadata.uid = cluster.newUid()
  metadata.creationTimestamp = timestamp(cluster)
  if (!metadata.name && metadata.generateName) metadata.name = generateName(metadata.generateName, cluster.random)
}
