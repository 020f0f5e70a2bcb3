import { isReadyPod, readySince } from './pods.ts'
import type { Pod } from './pods.ts'

const PHASES: Record<string, number> = { Pending: 0, Unknown: 1, Running: 2 }

/**
 * Orders active pods so that those come first which are missed least: not bound, not running, not ready, cheap by the
 * deletion cost annotation, on a crowded node, ready or made most recently.
 */
export function rankForDeletion(pods: readonly Pod[]): Pod[] {
  const perNode = new Map<string, number>()
  for (const pod of pods) {
    const node = pod.spec?.nodeName ?? ''
    perNode.set(node, (perNode.get(node) ?? 0) + 1)
  }
  const ranked = pods.map((pod) => ({ pod, rank: rankOf(pod, perNode.get(pod.spec?.nodeName ?? '') ?? 0) }))
  return ranked.toSorted((a, b) => compareRanks(a.rank, b.rank)).map(({ pod }) => pod)
}

/** Compared in order; the smaller goes first. */
function rankOf(pod: Pod, podsOnNode: number): readonly number[] {
  const restarts = Math.max(0, ...(pod.status?.containerStatuses ?? []).map((status) => status.restartCount ?? 0))
  return [
    pod.spec?.nodeName ? 1 : 0,
    PHASES[pod.status?.phase ?? 'Unknown'] ?? 1,
    isReadyPod(pod) ? 1 : 0,
    Number(pod.metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'] ?? 0) || 0,
    -podsOnNode,
    -(readySince(pod) ?? 0),
    -restarts,
    -Date.parse(pod.metadata.creationTimestamp ?? '1970-01-01T00:00:00Z'),
  ]
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? 0
    if (left !== right) return left - right
  }
  return 0
}
