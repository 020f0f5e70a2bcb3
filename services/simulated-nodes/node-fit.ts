import { type Taint, selectsNode, toleratesTaint } from '#libs/kube-model'
import type { Node, Pod } from './pod.ts'

/** Why a node does not take a pod, in the words of kube-scheduler. */
export type Misfit =
  | "node(s) didn't match Pod's node affinity/selector"
  | 'node(s) had untolerated taint(s)'
  | 'node(s) were unschedulable'
  | 'Too many pods'

/** The first reason for which the node does not take the pod; undefined when it fits. */
export function misfitOf(pod: Pod, node: Node, podsOnNode: number): Misfit | undefined {
  if (node.spec?.unschedulable === true && !toleratesTaint(pod.spec?.tolerations, UNSCHEDULABLE)) {
    return 'node(s) were unschedulable'
  }
  if (!selectsNode(pod.spec, node)) return "node(s) didn't match Pod's node affinity/selector"
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect !== 'PreferNoSchedule')
  if (taints.some((taint) => !toleratesTaint(pod.spec?.tolerations, taint))) return 'node(s) had untolerated taint(s)'
  if (podsOnNode >= Number(node.status?.allocatable?.['pods'] ?? Infinity)) return 'Too many pods'
  return undefined
}

const UNSCHEDULABLE: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }
