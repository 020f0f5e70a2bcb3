import type { KubeObject } from '#libs/kube-model'
import { findCondition } from './conditions.ts'
import type { Condition } from './conditions.ts'

/** A pod, the fields that controllers read. */
export type Pod = KubeObject & {
  spec?: {
    nodeName?: string
    hostname?: string
    subdomain?: string
    containers?: { name: string; ports?: { name?: string; containerPort: number; protocol?: string }[] }[]
  }
  status?: {
    phase?: string
    podIP?: string
    podIPs?: { ip: string }[]
    conditions?: Condition[]
    containerStatuses?: { restartCount?: number }[]
  }
}

/** A pod template; its metadata has no name. */
export type PodTemplate = {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string>; finalizers?: string[] }
  spec?: Record<string, unknown>
}

/** Whether the pod still counts for its controller: neither finished nor being deleted. */
export function isActivePod(pod: Pod): boolean {
  return !isFinishedPod(pod) && pod.metadata.deletionTimestamp === undefined
}

/** Whether the pod's containers ended for good. */
export function isFinishedPod(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
}

export function isReadyPod(pod: Pod): boolean {
  return findCondition(pod.status?.conditions, 'Ready')?.status === 'True'
}

/** Milliseconds since the epoch at which the pod became ready; `undefined` when it is not. */
export function readySince(pod: Pod): number | undefined {
  const condition = findCondition(pod.status?.conditions, 'Ready')
  if (condition?.status !== 'True') return undefined
  return condition.lastTransitionTime === undefined ? 0 : Date.parse(condition.lastTransitionTime)
}

/** Whether the pod has been ready for `minReadySeconds`. */
export function isAvailablePod(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  const since = readySince(pod)
  return since !== undefined && (minReadySeconds === 0 || since + minReadySeconds * 1000 <= nowMs)
}
