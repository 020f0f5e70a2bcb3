import type { KubeObject } from '#libs/kube-model'
import { findCondition, setCondition } from './conditions.ts'
import type { Condition } from './conditions.ts'
import { toTimestamp } from './controller-context.ts'
import type { LabelSelector } from './label-selector.ts'
import { isActivePod, isReadyPod } from './pods.ts'
import type { Pod, PodTemplate } from './pods.ts'
import { positive } from './replica-set.ts'

export type Job = KubeObject & {
  spec?: {
    completions?: number
    parallelism?: number
    backoffLimit?: number
    suspend?: boolean
    ttlSecondsAfterFinished?: number
    selector?: LabelSelector
    template?: PodTemplate
  }
  status?: JobStatus
}

type JobStatus = {
  active?: number
  ready?: number
  succeeded?: number
  failed?: number
  terminating?: number
  startTime?: string
  completionTime?: string
  conditions?: Condition[]
  uncountedTerminatedPods?: Record<string, never>
}

export type JobPlan = { status: JobStatus; podsToCreate: number; podsToDelete: Pod[] }

/** Whether the job ended, well or not. */
export function isFinishedJob(job: Job): boolean {
  return ['Complete', 'Failed'].some((type) => findCondition(job.status?.conditions, type)?.status === 'True')
}

/** The job's status by its pods, and the pods to make and to delete. */
export function planJob(job: Job, pods: readonly Pod[], nowMs: number): JobPlan {
  const { completions, parallelism = 1, backoffLimit = 6, suspend = false } = job.spec ?? {}
  const now = toTimestamp(nowMs)
  const active = pods.filter(isActivePod)
  const succeeded = Math.max(job.status?.succeeded ?? 0, count(pods, 'Succeeded'))
  const failed = Math.max(job.status?.failed ?? 0, count(pods, 'Failed'))
  // Without completions, one success ends the job as soon as the other pods ended too.
  const isComplete = completions === undefined ? succeeded > 0 && active.length === 0 : succeeded >= completions
  const hasFailed = !isComplete && failed > backoffLimit
  const status: JobStatus = {
    ...(isComplete || hasFailed ? {} : positive('active', active.length)),
    ready: isComplete || hasFailed ? 0 : active.filter(isReadyPod).length,
    ...positive('succeeded', succeeded),
    ...positive('failed', failed),
    terminating: pods.filter((pod) => pod.metadata.deletionTimestamp !== undefined).length,
    startTime: job.status?.startTime ?? now,
    uncountedTerminatedPods: {},
    ...(job.status?.conditions === undefined ? {} : { conditions: job.status.conditions }),
  }
  if (isComplete) {
    status.completionTime = job.status?.completionTime ?? now
    status.conditions = finished(status.conditions, 'Complete', now)
  } else if (hasFailed) {
    status.conditions = finished(status.conditions, 'Failed', now)
  }
  if (isComplete || hasFailed || suspend) return { status, podsToCreate: 0, podsToDelete: active }
  const left = completions === undefined ? (succeeded > 0 ? active.length : parallelism) : completions - succeeded
  const wanted = Math.min(parallelism, left)
  return {
    status,
    podsToCreate: Math.max(0, wanted - active.length),
    podsToDelete: active.slice(0, Math.max(0, active.length - wanted)),
  }
}

function count(pods: readonly Pod[], phase: string): number {
  return pods.filter((pod) => pod.status?.phase === phase).length
}

function finished(conditions: Condition[] | undefined, type: 'Complete' | 'Failed', now: string): Condition[] {
  const isComplete = type === 'Complete'
  return setCondition(
    conditions,
    {
      type,
      status: 'True',
      lastProbeTime: now,
      reason: isComplete ? 'CompletionsReached' : 'BackoffLimitExceeded',
      message: isComplete ? 'Reached expected number of succeeded pods' : 'Job has reached the specified backoff limit',
    },
    now,
  )
}
