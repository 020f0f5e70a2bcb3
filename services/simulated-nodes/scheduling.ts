import { misfitOf } from './node-fit.ts'
import type { Misfit } from './node-fit.ts'
import type { Node, Pod } from './pod.ts'

export type Placement = { kind: 'node'; name: string } | { kind: 'none'; message: string }

/** The node with the fewest pods among those that fit; else what kept them all. */
export function placePod(pod: Pod, nodes: Iterable<Node>, podsOn: (node: string) => number): Placement {
  let best: { name: string; pods: number } | undefined
  const misfits = new Map<Misfit, number>()
  let total = 0
  for (const node of nodes) {
    total += 1
    const name = node.metadata.name ?? ''
    const pods = podsOn(name)
    if (best !== undefined && best.pods <= pods) continue
    const misfit = misfitOf(pod, node, pods)
    if (misfit === undefined) best = { name, pods }
    else misfits.set(misfit, (misfits.get(misfit) ?? 0) + 1)
  }
  if (best !== undefined) return { kind: 'node', name: best.name }
  const reasons = [...misfits].map(([misfit, count]) => `${String(count)} ${misfit}`).join(', ')
  return { kind: 'none', message: `0/${String(total)} nodes are available: ${reasons || 'no nodes'}.` }
}

/** Whether this pod waits for a scheduler, and for ours. */
export function needsPlacement(pod: Pod): boolean {
  return (
    !pod.spec?.nodeName &&
    pod.metadata.deletionTimestamp === undefined &&
    (pod.spec?.schedulerName ?? 'default-scheduler') === 'default-scheduler' &&
    (pod.spec?.schedulingGates ?? []).length === 0
  )
}
