import { cloneJson } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import { resourceByToken } from '../discovery/resources.ts'
import type { Cluster } from './cluster.ts'
import { timestamp } from './cluster.ts'
import type { DeleteRequest } from './delete.ts'
import { deleteObject } from './delete.ts'
import { bookEviction } from './eviction.ts'
import { requireObject, uidConflict } from './update.ts'
import type { ObjectTarget } from './update.ts'
import type { WriteOptions } from './write-options.ts'

type PodName = { namespace: string; name: string }

type Binding = KubeObject & { target?: { name?: string } }

type PodSpec = { nodeName?: string; schedulingGates?: unknown[] }

type PodStatus = { conditions?: { type: string }[] }

function podTarget(pod: PodName): ObjectTarget {
  const resource = resourceByToken('pods')
  if (resource === undefined) throw ApiError.notServed()
  return { resource, ...pod }
}

/**
 * Assigns a pod to a node: `pods/binding`.
 * @throws ApiError 404, 409 when it has a node or may not be scheduled yet
 */
export function bindPod(cluster: Cluster, request: PodName & { binding: KubeObject }, options: WriteOptions): void {
  const binding = request.binding as Binding
  const target = podTarget({ namespace: request.namespace, name: request.name })
  const { uid, annotations = {} } = binding.metadata
  if (!binding.target?.name) throw ApiError.internal('target.name: Required value')
  const stored = requireObject(cluster, target)
  if (uid && uid !== stored.object.metadata.uid) {
    throw uidConflict(target, uid, stored.object.metadata.uid ?? '')
  }
  const pod = cloneJson(stored.object)
  const spec = (pod['spec'] ?? {}) as PodSpec
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw bindingConflict(target.name, `pod ${target.name} is being deleted, cannot be assigned to a host`)
  }
  if (spec.nodeName) {
    throw bindingConflict(
      target.name,
      `pod ${target.name} is already assigned to node ${JSON.stringify(spec.nodeName)}`,
    )
  }
  if ((spec.schedulingGates ?? []).length > 0) {
    throw bindingConflict(target.name, `pod ${target.name} has non-empty .spec.schedulingGates`)
  }
  pod['spec'] = { ...spec, nodeName: binding.target.name }
  if (Object.keys(annotations).length > 0) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations }
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(cluster),
  }
  pod['status'] = withCondition((pod['status'] ?? {}) as PodStatus, scheduled)
  if (options.dryRun === true) return
  cluster.store.write({
    type: 'MODIFIED',
    resource: 'pods',
    namespace: target.namespace,
    name: target.name,
    object: pod,
  })
}

const bindingConflict = (name: string, problem: string): ApiError =>
  ApiError.conflict({ group: '', plural: 'pods/binding' }, name, problem)

/**
 * Deletes a pod on behalf of `pods/eviction`, as far as disruption budgets allow it; a pod that has a node is told why.
 * @throws ApiError
 */
export function evictPod(cluster: Cluster, pod: PodName, request: DeleteRequest): void {
  const target = podTarget(pod)
  const { object } = requireObject(cluster, target)
  const { nodeName } = (object['spec'] ?? {}) as PodSpec
  const { deletionTimestamp, uid } = object.metadata
  const isMeant = request.uid === undefined || request.uid === uid
  if (isMeant) bookEviction(cluster, object, request.dryRun === true)
  if (nodeName && deletionTimestamp === undefined && request.dryRun !== true && isMeant) {
    setCondition(cluster, target, {
      type: 'DisruptionTarget',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: timestamp(cluster),
      reason: 'EvictionByEvictionAPI',
      message: 'Eviction API: evicting',
    })
  }
  deleteObject(cluster, target, request)
}

function setCondition(
  cluster: Cluster,
  target: ObjectTarget,
  condition: { type: string; [field: string]: unknown },
): void {
  const { resource, namespace, name } = requireObject(cluster, target)
  const pod = cloneJson(requireObject(cluster, target).object)
  pod['status'] = withCondition((pod['status'] ?? {}) as PodStatus, condition)
  cluster.store.write({ type: 'MODIFIED', resource, namespace, name, object: pod })
}

function withCondition(status: PodStatus, condition: { type: string }): PodStatus {
  const others = (status.conditions ?? []).filter(({ type }) => type !== condition.type)
  return { ...status, conditions: [...others, condition] }
}
