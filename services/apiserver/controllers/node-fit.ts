import { type KubeObject, type PlacedSpec, type Taint, selectsNode, toleratesTaint } from '#libs/kube-model'

/** Whether pods of a spec belong on a node: `no`, or `stay` for those that are there but would not be placed anew. */
export function nodeFit(spec: Record<string, unknown> | undefined, node: KubeObject): 'yes' | 'stay' | 'no' {
  const placed = spec as PlacedSpec | undefined
  if (!selectsNode(placed, node)) return 'no'
  const { taints = [] } = (node['spec'] ?? {}) as { taints?: Taint[] }
  const bad = taints.filter((taint) => !toleratesTaint(placed?.tolerations, taint))
  if (bad.some(({ effect }) => effect === 'NoExecute')) return 'no'
  return bad.some(({ effect }) => effect === 'NoSchedule') ? 'stay' : 'yes'
}
