import type { KubeObject } from './kube-object.ts'

export type NodeSelectorRequirement = { key: string; operator: string; values?: string[] }

export type NodeSelectorTerm = { matchExpressions?: NodeSelectorRequirement[]; matchFields?: NodeSelectorRequirement[] }

export type Toleration = { key?: string; operator?: string; value?: string; effect?: string }

export type Taint = { key: string; value?: string; effect: string }

/** What of a pod's spec says on which nodes it may run. */
export type PlacedSpec = {
  nodeSelector?: Record<string, string>
  affinity?: {
    nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeSelectorTerm[] } }
  }
  tolerations?: Toleration[]
}

/**
 * Whether a node has what a pod's node selector and required node affinity ask for: all of a term, any of the terms.
 * A term without requirements matches nothing. As in Kubernetes' `v1.NodeSelector`.
 */
export function selectsNode(spec: PlacedSpec | undefined, node: KubeObject): boolean {
  const labels = node.metadata.labels ?? {}
  if (!Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required === undefined || (required.nodeSelectorTerms ?? []).some((term) => meetsTerm(term, node))
}

/** Whether any toleration tolerates a taint. As in Kubernetes' `v1.Toleration`. */
export function toleratesTaint(tolerations: readonly Toleration[] | undefined, taint: Taint): boolean {
  return (tolerations ?? []).some(({ key, operator = 'Equal', value = '', effect }) => {
    if (effect && effect !== taint.effect) return false
    if (operator === 'Exists') return !key || key === taint.key
    return key === taint.key && value === (taint.value ?? '')
  })
}

function meetsTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: KubeObject): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  const labels = node.metadata.labels ?? {}
  const fields: Record<string, string | undefined> = { 'metadata.name': node.metadata.name }
  return (
    matchExpressions.every((requirement) => meets(requirement, labels[requirement.key])) &&
    matchFields.every((requirement) => meets(requirement, fields[requirement.key]))
  )
}

function meets({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
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
