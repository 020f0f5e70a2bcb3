import { canonicalJson, jsonEqual } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'
import type { Condition } from './conditions.ts'
import { safeEncode } from './generated-name.ts'
import type { LabelSelector } from './label-selector.ts'
import type { PodTemplate } from './pods.ts'
import type { ReplicaSet } from './replica-set.ts'

export type Deployment = KubeObject & {
  spec?: {
    replicas?: number
    minReadySeconds?: number
    selector?: LabelSelector
    template?: PodTemplate
    strategy?: { type?: string; rollingUpdate?: { maxSurge?: number | string; maxUnavailable?: number | string } }
    paused?: boolean
    revisionHistoryLimit?: number
    progressDeadlineSeconds?: number
  }
  status?: DeploymentStatus
}

export type DeploymentStatus = {
  observedGeneration?: number
  replicas?: number
  updatedReplicas?: number
  readyReplicas?: number
  availableReplicas?: number
  unavailableReplicas?: number
  collisionCount?: number
  conditions?: Condition[]
}

export const HASH_LABEL = 'pod-template-hash'
export const REVISION = 'deployment.kubernetes.io/revision'
export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas'
export const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas'
const NOT_COPIED = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  'deployment.kubernetes.io/revision-history',
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  'deprecated.deployment.rollback.to',
])

export function wantedReplicas(deployment: Deployment): number {
  return deployment.spec?.replicas ?? 1
}

export function replicasOf(replicaSet: ReplicaSet): number {
  return replicaSet.spec?.replicas ?? 0
}

/** Sum of what the ReplicaSets ask for. */
export function totalReplicas(replicaSets: readonly ReplicaSet[]): number {
  return replicaSets.reduce((sum, replicaSet) => sum + replicasOf(replicaSet), 0)
}

/** Sum of the pods that are available. */
export function totalAvailable(replicaSets: readonly ReplicaSet[]): number {
  return replicaSets.reduce((sum, replicaSet) => sum + (replicaSet.status?.availableReplicas ?? 0), 0)
}

export function isRollingUpdate(deployment: Deployment): boolean {
  return (deployment.spec?.strategy?.type ?? 'RollingUpdate') === 'RollingUpdate'
}

/**
 * How many pods a rollout may have above and below the wanted number. Surge rounds up and unavailable down; both zero
 * would be a standstill, so one may be unavailable then.
 */
export function rolloutBounds(deployment: Deployment): { maxSurge: number; maxUnavailable: number } {
  const wanted = wantedReplicas(deployment)
  if (!isRollingUpdate(deployment)) return { maxSurge: 0, maxUnavailable: 0 }
  const { maxSurge = '25%', maxUnavailable = '25%' } = deployment.spec?.strategy?.rollingUpdate ?? {}
  const surge = resolveCount(maxSurge, wanted, Math.ceil)
  const unavailable = resolveCount(maxUnavailable, wanted, Math.floor)
  if (surge === 0 && unavailable === 0) return { maxSurge: 0, maxUnavailable: 1 }
  return { maxSurge: surge, maxUnavailable: Math.min(unavailable, wanted) }
}

/** A number, or a percentage of `of`. */
export function resolveCount(value: number | string, of: number, round: (value: number) => number): number {
  if (typeof value === 'number') return value
  const percent = Number.parseInt(value, 10)
  return value.endsWith('%') ? round((percent * of) / 100) : percent
}

/** Name part and label of the ReplicaSet of a template: FNV-1a over its canonical JSON. */
export function templateHash(template: PodTemplate, collisionCount: number | undefined): string {
  const text = `${canonicalJson(template)}${collisionCount === undefined ? '' : String(collisionCount)}`
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return safeEncode(String(hash))
}

/** The ReplicaSet of the current template, the oldest if there are several. */
export function findNewReplicaSet(deployment: Deployment, replicaSets: readonly ReplicaSet[]): ReplicaSet | undefined {
  const template = deployment.spec?.template ?? {}
  return byAge(replicaSets).find((replicaSet) => isSameTemplate(template, replicaSet.spec?.template ?? {}))
}

/** Whether two templates are the same but for the hash label. */
export function isSameTemplate(a: PodTemplate, b: PodTemplate): boolean {
  return jsonEqual(withoutHash(a), withoutHash(b))
}

function withoutHash(template: PodTemplate): unknown {
  const { [HASH_LABEL]: _, ...labels } = template.metadata?.labels ?? {}
  const { creationTimestamp: _created, ...metadata } = { creationTimestamp: null, ...template.metadata }
  return { ...template, metadata: { ...metadata, labels } }
}

export function revisionOf(object: KubeObject): number {
  return Number(object.metadata.annotations?.[REVISION] ?? 0) || 0
}

/** Oldest first. */
export function byAge(replicaSets: readonly ReplicaSet[]): ReplicaSet[] {
  return replicaSets.toSorted((a, b) => {
    const left = `${a.metadata.creationTimestamp ?? ''}/${a.metadata.name ?? ''}`
    const right = `${b.metadata.creationTimestamp ?? ''}/${b.metadata.name ?? ''}`
    return left < right ? -1 : left > right ? 1 : 0
  })
}

/** Annotations that tell a ReplicaSet of the size of its deployment. */
export function sizeAnnotations(deployment: Deployment): Record<string, string> {
  const wanted = wantedReplicas(deployment)
  return {
    [DESIRED_REPLICAS]: String(wanted),
    [MAX_REPLICAS]: String(wanted + rolloutBounds(deployment).maxSurge),
  }
}

/** Annotations the current ReplicaSet carries: those of the deployment and its revision. */
export function replicaSetAnnotations(
  deployment: Deployment,
  current: Readonly<Record<string, string>> | undefined,
  revision: number,
): Record<string, string> {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !NOT_COPIED.has(key))
  const sizes = current === undefined ? sizeAnnotations(deployment) : {}
  return { ...current, ...Object.fromEntries(copied), ...sizes, [REVISION]: String(revision) }
}
