import type { KubeObject } from '#libs/kube-model'

type Requirement = { key: string; operator: string; values?: string[] }

type NodeTerm = { matchExpressions?: Requirement[]; matchFields?: Requirement[] }

type Toleration = { key?: string; operator?: string; value?: string; effect?: string }

type Taint = { key: string; value?: string; effect: string }

type PlacedSpec = {
  nodeSelector?: Record<string, string>
  affinity?: { nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeTerm[] } } }
  tolerations?: Toleration[]
}

/** Whether pods of a spec belong on a node: `no`, or `stay` for those that are there but would not be placed anew. */
export function nodeFit(spec: Record<string, unknown> | undefined, node: KubeObject): 'yes' | 'stay' | 'no' {
  const { nodeSelector = {}, affinity, tolerations = [] } = (spec ?? {}) as PlacedSpec
  const labels = node.metadata.labels ?? {}
  if (!Object.entries(nodeSelector).every(([key, value]) => labels[key] === value)) return 'no'
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  if (required !== undefined && !(required.nodeSelectorTerms ?? []).some((term) => meetsTerm(term, node))) return 'no'
  const { taints = [] } = (node['spec'] ?? {}) as { taints?: Taint[] }
  const bad = taints.filter((taint) => !tolerations.some((toleration) => tolerates(toleration, taint)))
  if (bad.some(({ effect }) => effect === 'NoExecute')) return 'no'
  return bad.some(({ effect }) => effect === 'NoSchedule') ? 'stay' : 'yes'
}

function tolerates({ key, operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false
  if (operator === 'Exists') return !key || key === taint.key
  return key === taint.key && value === (taint.value ?? '')
}

function meetsTerm({ matchExpressions = [], matchFields = [] }: NodeTerm, node: KubeObject): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  const labels = node.metadata.labels ?? {}
  const fields: Record<string, string | undefined> = { 'metadata.name': node.metadata.name }
  return (
    matchExpressions.every((requirement) => meets(requirement, labels[requirement.key])) &&
    matchFields.every((requirement) => meets(requirement, fields[requirement.key]))
  )
}

function meets({ operator, values = [] }: Requirement, value: string | undefined): boolean {
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
