import {
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  byAge,
  isRollingUpdate,
  replicasOf,
  rolloutBounds,
  totalAvailable,
  totalReplicas,
  wantedReplicas,
} from './deployment.ts'
import type { Deployment } from './deployment.ts'
import type { ReplicaSet } from './replica-set.ts'

/** A ReplicaSet and the size it is to have. */
export type Scaling = { replicaSet: ReplicaSet; replicas: number }

/** The ReplicaSets of a deployment: the one of the current template, if it is there, and the earlier ones. */
export type ReplicaSets = { current: ReplicaSet | undefined; old: readonly ReplicaSet[] }

/** All of them. */
export function allOf({ current, old }: ReplicaSets): ReplicaSet[] {
  return current === undefined ? [...old] : [...old, current]
}

/** Whether the deployment was resized since its ReplicaSets were. */
export function isResized(deployment: Deployment, sets: ReplicaSets): boolean {
  const wanted = String(wantedReplicas(deployment))
  return allOf(sets).some((replicaSet) => {
    const desired = replicaSet.metadata.annotations?.[DESIRED_REPLICAS]
    return replicasOf(replicaSet) > 0 && desired !== undefined && desired !== wanted
  })
}

/**
 * Sizes after the deployment was resized or while it is paused: a single ReplicaSet takes the new size; in the middle
 * of a rollout each grows or shrinks in proportion.
 */
export function resize(deployment: Deployment, sets: ReplicaSets): Scaling[] {
  const wanted = wantedReplicas(deployment)
  const all = allOf(sets)
  const active = all.filter((replicaSet) => replicasOf(replicaSet) > 0)
  const only = active.length > 1 ? undefined : (active[0] ?? sets.current ?? byAge(sets.old).at(-1))
  if (only !== undefined) return [{ replicaSet: only, replicas: wanted }]
  if (isSaturated(deployment, sets.current)) {
    return active.filter((replicaSet) => replicaSet !== sets.current).map((replicaSet) => ({ replicaSet, replicas: 0 }))
  }
  return isRollingUpdate(deployment) ? resizeInProportion(deployment, active) : []
}

function isSaturated(deployment: Deployment, current: ReplicaSet | undefined): boolean {
  const wanted = wantedReplicas(deployment)
  return (
    current !== undefined &&
    current.metadata.annotations?.[DESIRED_REPLICAS] === String(wanted) &&
    replicasOf(current) === wanted &&
    (current.status?.availableReplicas ?? 0) === wanted
  )
}

function resizeInProportion(deployment: Deployment, active: readonly ReplicaSet[]): Scaling[] {
  const wanted = wantedReplicas(deployment)
  const allowed = wanted > 0 ? wanted + rolloutBounds(deployment).maxSurge : 0
  const toAdd = allowed - totalReplicas(active)
  // The largest first; among equals the newer gains and the older loses.
  const aged = toAdd > 0 ? byAge(active).toReversed() : byAge(active)
  const sorted = aged.toSorted((a, b) => replicasOf(b) - replicasOf(a))
  let added = 0
  const scalings = sorted.map((replicaSet) => {
    const share = toAdd === 0 ? 0 : shareOf(deployment, replicaSet, { toAdd, added })
    added += share
    return { replicaSet, replicas: replicasOf(replicaSet) + share }
  })
  const [first] = scalings
  if (first !== undefined) first.replicas = Math.max(0, first.replicas + toAdd - added)
  return scalings
}

function shareOf(
  deployment: Deployment,
  replicaSet: ReplicaSet,
  { toAdd, added }: { toAdd: number; added: number },
): number {
  const replicas = replicasOf(replicaSet)
  const left = toAdd - added
  const wanted = wantedReplicas(deployment)
  const annotated = Number(replicaSet.metadata.annotations?.[MAX_REPLICAS]) || (deployment.status?.replicas ?? 0) || 1
  const allowed = wanted + rolloutBounds(deployment).maxSurge
  const fraction = wanted === 0 ? -replicas : Math.round((replicas * allowed) / annotated) - replicas
  return toAdd > 0 ? Math.min(fraction, left) : Math.max(fraction, left)
}

/** Size of the current ReplicaSet: as much as the surge leaves room for. */
export function sizeOfCurrent(deployment: Deployment, sets: ReplicaSets): number {
  const wanted = wantedReplicas(deployment)
  if (!isRollingUpdate(deployment)) return wanted
  const size = sets.current === undefined ? 0 : replicasOf(sets.current)
  if (size >= wanted) return wanted
  const room = wanted + rolloutBounds(deployment).maxSurge - totalReplicas(allOf(sets))
  return room <= 0 ? size : size + Math.min(room, wanted - size)
}

/** The next sizes of the earlier ReplicaSets in a rolling update: enough pods stay available. */
export function shrinkOld(deployment: Deployment, sets: ReplicaSets): Scaling[] {
  const all = allOf(sets)
  const minAvailable = wantedReplicas(deployment) - rolloutBounds(deployment).maxUnavailable
  const unavailableNew =
    sets.current === undefined ? 0 : replicasOf(sets.current) - (sets.current.status?.availableReplicas ?? 0)
  const removable = totalReplicas(all) - minAvailable - unavailableNew
  if (totalReplicas(sets.old) === 0 || removable <= 0) return []

  const sizes = new Map(byAge(sets.old).map((replicaSet) => [replicaSet, replicasOf(replicaSet)]))
  let unhealthy = removable
  for (const [replicaSet, size] of sizes) {
    // Pods that are not available are missed by no one.
    const count = Math.min(unhealthy, Math.max(0, size - (replicaSet.status?.availableReplicas ?? 0)))
    sizes.set(replicaSet, size - count)
    unhealthy -= count
  }
  let available = Math.max(0, totalAvailable(all) - minAvailable)
  for (const [replicaSet, size] of sizes) {
    const count = Math.min(available, size)
    sizes.set(replicaSet, size - count)
    available -= count
  }
  return [...sizes]
    .filter(([replicaSet, size]) => size !== replicasOf(replicaSet))
    .map(([replicaSet, replicas]) => ({ replicaSet, replicas }))
}
