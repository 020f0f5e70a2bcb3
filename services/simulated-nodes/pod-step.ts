import { SIMULATED } from './simulated-node.ts'
import { isFinished } from './pod.ts'
import type { Pod } from './pod.ts'

/** Seconds a pod runs before it succeeds, for pods that do not restart always. */
export const RUN_SECONDS = `${SIMULATED}-run-seconds`

export type StepOptions = {
  nowMs: number
  /** When the pod was taken by its node, if this process knows. */
  startedMs: number | undefined
  /** Time from binding to running. */
  latencyMs: number
  /** Time a deleted pod takes to end; never longer than its grace period. */
  terminationMs: number
  /** Time a Job's pod runs. */
  jobRunMs: number
}

/** What the fake kubelet does next with a pod on one of its nodes. */
export type PodStep =
  | { kind: 'none' }
  | { kind: 'wait'; ms: number }
  /** Start the containers, if what they need is there. */
  | { kind: 'start' }
  | { kind: 'succeed' }
  /** Take the pod out of the API: its containers have ended. */
  | { kind: 'remove' }

export function nextPodStep(pod: Pod, options: StepOptions): PodStep {
  if (pod.metadata.deletionTimestamp !== undefined) return deletionStep(pod, options)
  if (isFinished(pod)) return { kind: 'none' }
  if (pod.status?.phase !== 'Running') {
    const waitMs = (options.startedMs ?? options.nowMs) + options.latencyMs - options.nowMs
    return waitMs > 0 ? { kind: 'wait', ms: waitMs } : { kind: 'start' }
  }
  const runMs = runTimeMs(pod, options.jobRunMs)
  if (runMs === undefined) return hasStaleReadiness(pod) ? { kind: 'start' } : { kind: 'none' }
  const leftMs = Date.parse(pod.status.startTime ?? '') + runMs - options.nowMs
  return leftMs > 0 ? { kind: 'wait', ms: leftMs } : { kind: 'succeed' }
}

/** How long the pod runs before it succeeds; undefined when it runs until it is deleted. */
function runTimeMs(pod: Pod, jobRunMs: number): number | undefined {
  if ((pod.spec?.restartPolicy ?? 'Always') === 'Always') return undefined
  const seconds = Number(pod.metadata.annotations?.[RUN_SECONDS] ?? Number.NaN)
  if (Number.isFinite(seconds)) return seconds * 1000
  const isJob =
    pod.metadata.ownerReferences?.some(({ kind }) => kind === 'Job') === true ||
    pod.metadata.labels?.['batch.kubernetes.io/job-name'] !== undefined
  return isJob ? jobRunMs : undefined
}

function deletionStep(pod: Pod, options: StepOptions): PodStep {
  const graceSeconds = pod.metadata.deletionGracePeriodSeconds ?? 0
  // Removed already, and held by finalizers.
  if (graceSeconds === 0) return { kind: 'none' }
  const deletedMs = Date.parse(pod.metadata.deletionTimestamp ?? '') - graceSeconds * 1000
  const waitMs = deletedMs + Math.min(options.terminationMs, graceSeconds * 1000) - options.nowMs
  return waitMs > 0 ? { kind: 'wait', ms: waitMs } : { kind: 'remove' }
}

/** Whether a readiness gate was opened since the pod's readiness was reported. */
function hasStaleReadiness(pod: Pod): boolean {
  const conditions = pod.status?.conditions ?? []
  const isTrue = (type: string): boolean => conditions.some((entry) => entry.type === type && entry.status === 'True')
  const gates = pod.spec?.readinessGates ?? []
  return gates.length > 0 && gates.every(({ conditionType }) => isTrue(conditionType)) !== isTrue('Ready')
}
