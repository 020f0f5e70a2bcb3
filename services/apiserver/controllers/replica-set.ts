import type { KubeObject } from '#libs/kube-model'
import { setCondition } from './conditions.ts'
import type { Condition } from './conditions.ts'
import { toTimestamp } from './controller-context.ts'
import { randomSuffix } from './generated-name.ts'
import type { LabelSelector } from './label-selector.ts'
import { matchesLabels } from './label-selector.ts'
import { controllerReference } from './owner-references.ts'
import { rankForDeletion } from './pod-ranking.ts'
import { isActivePod, isAvailablePod, isReadyPod, readySince } from './pods.ts'
import type { Pod, PodTemplate } from './pods.ts'

export type ReplicaSet = KubeObject & {
  spec?: { replicas?: number; minReadySeconds?: number; selector?: LabelSelector; template?: PodTemplate }
  status?: ReplicaSetStatus
}

export type ReplicaSetStatus = {
  replicas: number
  fullyLabeledReplicas?: number
  readyReplicas?: number
  availableReplicas?: number
  observedGeneration?: number
  conditions?: Condition[]
}

/** Pods one step makes or deletes: the steps of a large ReplicaSet leave room for requests in between. */
export const STEP_SIZE = 50

/** What to do about the number of pods. */
export type ReplicaStep = { kind: 'none' } | { kind: 'create'; count: number } | { kind: 'delete'; pods: Pod[] }

/** The next step from the pods that are there to those that are wanted. */
export function nextReplicaStep(replicaSet: ReplicaSet, pods: readonly Pod[]): ReplicaStep {
  const active = pods.filter(isActivePod)
  const missing = (replicaSet.spec?.replicas ?? 1) - active.length
  if (missing > 0) return { kind: 'create', count: Math.min(missing, STEP_SIZE) }
  if (missing < 0) return { kind: 'delete', pods: rankForDeletion(active).slice(0, Math.min(-missing, STEP_SIZE)) }
  return { kind: 'none' }
}

/** A pod from a template, with a generated name and its controller's reference. */
export function podFromTemplate(
  owner: KubeObject,
  template: PodTemplate,
  options: { apiVersion: string; kind: string; random: () => number },
): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {}
  // The API server's limit for a generated name: 63 with the suffix.
  const generateName = `${owner.metadata.name ?? ''}-`.slice(0, 58)
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName,
      name: `${generateName}${randomSuffix(options.random)}`,
      ...(owner.metadata.namespace === undefined ? {} : { namespace: owner.metadata.namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [controllerReference(owner, options.apiVersion, options.kind)],
    },
    spec: { ...template.spec },
  }
}

/** The status that tells of these pods; `failure` is why pods could not be made or deleted. */
export function replicaSetStatus(
  replicaSet: ReplicaSet,
  pods: readonly Pod[],
  context: { nowMs: number; failure?: { reason: string; message: string } | undefined },
): ReplicaSetStatus {
  const templateLabels = replicaSet.spec?.template?.metadata?.labels ?? {}
  const minReadySeconds = replicaSet.spec?.minReadySeconds ?? 0
  const active = pods.filter(isActivePod)
  const count = (predicate: (pod: Pod) => boolean): number => active.filter(predicate).length
  const conditions = failureConditions(replicaSet, context)
  return {
    replicas: active.length,
    ...positive(
      'fullyLabeledReplicas',
      count((pod) => matchesLabels(templateLabels, pod.metadata.labels)),
    ),
    ...positive('readyReplicas', count(isReadyPod)),
    ...positive(
      'availableReplicas',
      count((pod) => isAvailablePod(pod, minReadySeconds, context.nowMs)),
    ),
    ...positive('observedGeneration', replicaSet.metadata.generation ?? 0),
    ...(conditions.length === 0 ? {} : { conditions }),
  }
}

/** Milliseconds until the next ready pod becomes available, if one waits for that. */
export function nextAvailabilityMs(replicaSet: ReplicaSet, pods: readonly Pod[], nowMs: number): number | undefined {
  const minReadyMs = (replicaSet.spec?.minReadySeconds ?? 0) * 1000
  if (minReadyMs === 0) return undefined
  const waits = pods
    .filter(isActivePod)
    .map((pod) => (readySince(pod) ?? Number.NEGATIVE_INFINITY) + minReadyMs - nowMs)
    .filter((ms) => ms > 0)
  return waits.length === 0 ? undefined : Math.min(...waits)
}

/** A counter as the API has it: left out when zero. */
export function positive<K extends string>(field: K, value: number): Partial<Record<K, number>> {
  return value === 0 ? {} : ({ [field]: value } as Record<K, number>)
}

function failureConditions(
  replicaSet: ReplicaSet,
  { nowMs, failure }: { nowMs: number; failure?: { reason: string; message: string } | undefined },
): Condition[] {
  const current = replicaSet.status?.conditions ?? []
  if (failure === undefined) return current.filter(({ type }) => type !== 'ReplicaFailure')
  return setCondition(current, { type: 'ReplicaFailure', status: 'True', ...failure }, toTimestamp(nowMs))
}
