import { cloneJson } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import { resourceByToken } from '../discovery/resources.ts'
import type { Cluster } from './cluster.ts'
import { timestamp } from './cluster.ts'
import type { DeleteRequest } from './delete.ts'
import { deleteObject } from './delete.ts'
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
  const status = (pod['status'] ?? {}) as PodStatus
  const others = (status.conditions ?? []).filter(({ type }) => type !== 'PodScheduled')
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(cluster),
  }
  pod['status'] = { ...status, conditions: [...others, scheduled] }
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

/** Deletes a pod on behalf of `pods/eviction`. Disruption budgets are not counted here. @throws ApiError */
export function evictPod(cluster: Cluster, pod: PodName, request: DeleteRequest): void {
  deleteObject(cluster, podTarget(pod), request)
}
