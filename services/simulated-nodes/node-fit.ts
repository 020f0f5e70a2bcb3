import type { Node, NodeSelectorTerm, Pod, Toleration } from './pod.ts'

/** Why a node does not take a pod, in the words of kube-scheduler. */
export type Misfit =
  | "node(s) didn't match Pod's node affinity/selector"
  | 'node(s) had untolerated taint(s)'
  | 'node(s) were unschedulable'
  | 'Too many pods'

/** The first reason for which the node does not take the pod; undefined when it fits. */
export function misfitOf(pod: Pod, node: Node, podsOnNode: number): Misfit | undefined {
  if (node.spec?.unschedulable === true && !tolerates(pod.spec?.tolerations, UNSCHEDULABLE)) {
    return 'node(s) were unschedulable'
  }
  if (!matchesNode(pod, node)) return "node(s) didn't match Pod's node affinity/selector"
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect !== 'PreferNoSchedule')
  if (taints.some((taint) => !tolerates(pod.spec?.tolerations, taint))) return 'node(s) had untolerated taint(s)'
  if (podsOnNode >= Number(node.status?.allocatable?.['pods'] ?? Infinity)) return 'Too many pods'
  return undefined
}

type Taint = { key: string; value?: string; effect: string }
const UNSCHEDULABLE: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

function tolerates(tolerations: readonly Toleration[] | undefined, taint: Taint): boolean {
  return (tolerations ?? []).some(({ key, operator = 'Equal', value = '', effect }) => {
    if (effect && effect !== taint.effect) return false
    if (operator === 'Exists') return !key || key === taint.key
    return key === taint.key && value === (taint.value ?? '')
  })
}

function matchesNode(pod: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {}
  if (!Object.entries(pod.spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  if (required === undefined) return true
  return (required.nodeSelectorTerms ?? []).some((term) => matchesTerm(term, node))
}

function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false
  const labels = node.metadata.labels ?? {}
  const fields: Record<string, string> = { 'metadata.name': node.metadata.name ?? '' }
  return (
    matchExpressions.every((expression) => matchesRequirement(expression, labels[expression.key])) &&
    matchFields.every((expression) => matchesRequirement(expression, fields[expression.key]))
  )
}

function matchesRequirement(
  { operator, values = [] }: { operator: string; values?: string[] },
  value: string | undefined,
): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0])
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0])
    default:
      return false
  }
}
