import type { KubeObject } from '#libs/kube-model'
import { findCondition } from './conditions.ts'
import type { Condition } from './conditions.ts'
import { toTimestamp } from './controller-context.ts'
import { resolveCount } from './deployment.ts'
import type { LabelSelector } from './label-selector.ts'
import { isReadyPod } from './pods.ts'
import type { Pod } from './pods.ts'

type DisruptionStatus = {
  observedGeneration?: number
  disruptionsAllowed?: number
  currentHealthy?: number
  desiredHealthy?: number
  expectedPods?: number
  disruptedPods?: Record<string, string>
  conditions?: (Condition & { observedGeneration?: number })[]
}

/** https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/pod-disruption-budget-v1/ */
export type DisruptionBudget = KubeObject & {
  spec?: {
    minAvailable?: number | string
    maxUnavailable?: number | string
    selector?: LabelSelector
    unhealthyPodEvictionPolicy?: string
  }
  status?: DisruptionStatus
}

/** An eviction counts as under way for this time at most. */
const EVICTION_MS = 120_000

/** The status of a budget; `expected`: how many pods their controllers want, all in all. */
export function disruptionStatus(
  budget: DisruptionBudget,
  pods: readonly Pod[],
  context: { expected: number; nowMs: number },
): DisruptionStatus {
  const { minAvailable, maxUnavailable } = budget.spec ?? {}
  const usesScale = maxUnavailable !== undefined || typeof minAvailable === 'string'
  const expectedPods = usesScale ? context.expected : pods.length
  const desiredHealthy =
    maxUnavailable !== undefined
      ? Math.max(0, expectedPods - resolveCount(maxUnavailable, expectedPods, Math.ceil))
      : resolveCount(minAvailable ?? 1, expectedPods, Math.ceil)
  const disruptedPods = stillDisrupted(budget, pods, context.nowMs)
  const isHealthy = (pod: Pod): boolean =>
    isReadyPod(pod) &&
    pod.metadata.deletionTimestamp === undefined &&
    disruptedPods[pod.metadata.name ?? ''] === undefined
  const currentHealthy = pods.filter(isHealthy).length
  const disruptionsAllowed = expectedPods === 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy)
  return {
    ...(Object.keys(disruptedPods).length === 0 ? {} : { disruptedPods }),
    observedGeneration: budget.metadata.generation ?? 0,
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    conditions: [disruptionCondition(budget, disruptionsAllowed > 0, toTimestamp(context.nowMs))],
  }
}

/** The condition that says whether a pod may be evicted now. */
export function disruptionCondition(
  budget: DisruptionBudget,
  isAllowed: boolean,
  now: string,
): Condition & { observedGeneration: number } {
  const status = isAllowed ? 'True' : 'False'
  const before = findCondition(budget.status?.conditions, 'DisruptionAllowed')
  return {
    type: 'DisruptionAllowed',
    status,
    observedGeneration: budget.metadata.generation ?? 0,
    lastTransitionTime: before?.status === status ? (before.lastTransitionTime ?? now) : now,
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
  }
}

/** Evicted pods that are there yet and not being deleted: nobody else may count on them. */
function stillDisrupted(budget: DisruptionBudget, pods: readonly Pod[], nowMs: number): Record<string, string> {
  const present = new Set(
    pods.flatMap(({ metadata }) => (metadata.deletionTimestamp === undefined ? [metadata.name] : [])),
  )
  const entries = Object.entries(budget.status?.disruptedPods ?? {})
  return Object.fromEntries(
    entries.filter(([name, time]) => present.has(name) && Date.parse(time) + EVICTION_MS > nowMs),
  )
}
