import { findCondition, setCondition } from './conditions.ts'
import type { Condition } from './conditions.ts'
import { toTimestamp } from './controller-context.ts'
import { rolloutBounds, totalAvailable, totalReplicas, wantedReplicas } from './deployment.ts'
import type { Deployment, DeploymentStatus } from './deployment.ts'
import { allOf } from './deployment-scaling.ts'
import type { ReplicaSets } from './deployment-scaling.ts'
import { positive } from './replica-set.ts'
import type { ReplicaSet } from './replica-set.ts'

/** What the step found or did, for the condition Progressing. */
export type RolloutNews = 'none' | 'created' | 'found'

/** The status that tells of these ReplicaSets. */
export function deploymentStatus(
  deployment: Deployment,
  sets: ReplicaSets,
  context: { nowMs: number; news: RolloutNews },
): DeploymentStatus {
  const all = allOf(sets)
  const sum = (field: 'replicas' | 'readyReplicas'): number =>
    all.reduce((total, replicaSet) => total + (replicaSet.status?.[field] ?? 0), 0)
  const available = totalAvailable(all)
  const counts: DeploymentStatus = {
    ...positive('observedGeneration', deployment.metadata.generation ?? 0),
    ...positive('replicas', sum('replicas')),
    ...positive('updatedReplicas', sets.current?.status?.replicas ?? 0),
    ...positive('readyReplicas', sum('readyReplicas')),
    ...positive('availableReplicas', available),
    ...positive('unavailableReplicas', Math.max(0, totalReplicas(all) - available)),
    ...positive('collisionCount', deployment.status?.collisionCount ?? 0),
  }
  const now = toTimestamp(context.nowMs)
  let conditions = setCondition(deployment.status?.conditions, availableCondition(deployment, available, now), now)
  conditions = progress(deployment, sets, { ...context, now, counts, conditions })
  const failure = all.map(replicaFailure).find((condition) => condition !== undefined)
  conditions =
    failure === undefined
      ? conditions.filter(({ type }) => type !== 'ReplicaFailure')
      : setCondition(conditions, failure, now)
  return { ...counts, conditions }
}

/** Whether every pod is of the current template and available. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = wantedReplicas(deployment)
  return (
    (status.updatedReplicas ?? 0) === wanted &&
    (status.replicas ?? 0) === wanted &&
    (status.availableReplicas ?? 0) === wanted
  )
}

/** Milliseconds until a rollout that is under way counts as stuck. */
export function deadlineMs(deployment: Deployment, status: DeploymentStatus, nowMs: number): number | undefined {
  const seconds = deployment.spec?.progressDeadlineSeconds
  const progressing = findCondition(status.conditions, 'Progressing')
  if (seconds === undefined || progressing?.lastUpdateTime === undefined || deployment.spec?.paused) return undefined
  if (progressing.status !== 'True' || progressing.reason === 'NewReplicaSetAvailable') return undefined
  return Math.max(1000, Date.parse(progressing.lastUpdateTime) + seconds * 1000 - nowMs + 1000)
}

function availableCondition(deployment: Deployment, available: number, now: string): Condition {
  const isAvailable = available >= wantedReplicas(deployment) - rolloutBounds(deployment).maxUnavailable
  return {
    type: 'Available',
    status: isAvailable ? 'True' : 'False',
    reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: `Deployment ${isAvailable ? 'has' : 'does not have'} minimum availability.`,
    lastUpdateTime: now,
  }
}

type ProgressContext = {
  nowMs: number
  now: string
  news: RolloutNews
  counts: DeploymentStatus
  conditions: Condition[]
}

function progress(deployment: Deployment, sets: ReplicaSets, context: ProgressContext): Condition[] {
  const { conditions, counts, news, nowMs, now } = context
  const seconds = deployment.spec?.progressDeadlineSeconds
  if (seconds === undefined) return conditions.filter(({ type }) => type !== 'Progressing')
  const current = findCondition(conditions, 'Progressing')
  const name = sets.current?.metadata.name ?? deployment.metadata.name ?? ''
  const set = (status: Condition['status'], reason: string, message: string): Condition[] =>
    setProgressing(conditions, { type: 'Progressing', status, reason, message }, now)

  if (deployment.spec?.paused) return set('Unknown', 'DeploymentPaused', 'Deployment is paused')
  if (current?.reason === 'DeploymentPaused') return set('Unknown', 'DeploymentResumed', 'Deployment is resumed')
  if (news === 'created') return set('True', 'NewReplicaSetCreated', `Created new replica set "${name}"`)
  if (news === 'found' && current === undefined) {
    return set('True', 'FoundNewReplicaSet', `Found new replica set "${name}"`)
  }
  const isDone = isComplete(deployment, counts)
  if (current?.reason === 'NewReplicaSetAvailable' && (counts.replicas ?? 0) === (counts.updatedReplicas ?? 0)) {
    return conditions
  }
  if (isDone) return set('True', 'NewReplicaSetAvailable', `ReplicaSet "${name}" has successfully progressed.`)
  if (hasProgressed(deployment.status ?? {}, counts)) {
    return setProgressing(
      conditions.filter((condition) => condition.type !== 'Progressing'),
      {
        type: 'Progressing',
        status: 'True',
        reason: 'ReplicaSetUpdated',
        message: `ReplicaSet "${name}" is progressing.`,
        ...(current?.status === 'True' && current.lastTransitionTime !== undefined
          ? { lastTransitionTime: current.lastTransitionTime }
          : {}),
      },
      now,
    )
  }
  const since = Date.parse(current?.lastUpdateTime ?? now)
  if (current?.status === 'True' && current.reason !== 'NewReplicaSetAvailable' && since + seconds * 1000 < nowMs) {
    return set('False', 'ProgressDeadlineExceeded', `ReplicaSet "${name}" has timed out progressing.`)
  }
  return conditions
}

function setProgressing(conditions: readonly Condition[], condition: Condition, now: string): Condition[] {
  const { lastTransitionTime, ...fields } = condition
  const set = setCondition(conditions, { ...fields, lastUpdateTime: now }, now)
  if (lastTransitionTime === undefined) return set
  return set.map((entry) => (entry.type === condition.type ? { ...entry, lastTransitionTime } : entry))
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = (status: DeploymentStatus): number => (status.replicas ?? 0) - (status.updatedReplicas ?? 0)
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  )
}

function replicaFailure(replicaSet: ReplicaSet): Condition | undefined {
  const condition = findCondition(replicaSet.status?.conditions, 'ReplicaFailure')
  return condition?.status === 'True' ? condition : undefined
}
