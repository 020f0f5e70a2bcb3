import type { KubeObject } from '#libs/kube-model'
import { REVISION_LABEL } from './controller-revisions.ts'
import type { LabelSelector } from './label-selector.ts'
import { controllerReference } from './owner-references.ts'
import { isAvailablePod, isFinishedPod, isReadyPod } from './pods.ts'
import type { Pod, PodTemplate } from './pods.ts'
import { positive } from './replica-set.ts'

export type StatefulSet = KubeObject & {
  spec?: {
    replicas?: number
    minReadySeconds?: number
    serviceName?: string
    selector?: LabelSelector
    template?: PodTemplate
    podManagementPolicy?: string
    ordinals?: { start?: number }
    updateStrategy?: { type?: string; rollingUpdate?: { partition?: number } }
    volumeClaimTemplates?: KubeObject[]
    persistentVolumeClaimRetentionPolicy?: { whenDeleted?: string; whenScaled?: string }
  }
  status?: { currentRevision?: string; updateRevision?: string; [field: string]: unknown }
}

const INDEX_LABEL = 'apps.kubernetes.io/pod-index'
const NAME_LABEL = 'statefulset.kubernetes.io/pod-name'

/** What to do next about a set's pods. */
export type StatefulStep = { kind: 'none' } | { kind: 'create'; ordinals: number[] } | { kind: 'delete'; pods: Pod[] }

/** The ordinal in a pod's name; -1 when it is none of the set's. */
export function ordinalOf(set: StatefulSet, pod: Pod): number {
  const match = /^(.*)-(\d+)$/.exec(pod.metadata.name ?? '')
  return match !== null && match[1] === set.metadata.name ? Number(match[2]) : -1
}

/** The ordinals that the set wants. */
function wantedOrdinals({ spec }: StatefulSet): number[] {
  const start = spec?.ordinals?.start ?? 0
  return Array.from({ length: spec?.replicas ?? 1 }, (_, index) => start + index)
}

/**
 * The next step: missing pods in order, each after those before it are available (all at once with `Parallel`), surplus
 * ones from the highest down, and then those of another revision, from the highest down to the partition.
 */
export function nextStatefulStep(
  set: StatefulSet,
  pods: readonly Pod[],
  context: { updateRevision: string; nowMs: number },
): StatefulStep {
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]))
  const wanted = wantedOrdinals(set)
  const isParallel = set.spec?.podManagementPolicy === 'Parallel'
  const isHealthy = (pod: Pod | undefined): boolean =>
    pod !== undefined &&
    pod.metadata.deletionTimestamp === undefined &&
    isAvailablePod(pod, set.spec?.minReadySeconds ?? 0, context.nowMs)
  const finished = pods.filter((pod) => isFinishedPod(pod) && pod.metadata.deletionTimestamp === undefined)
  if (finished.length > 0) return { kind: 'delete', pods: finished }
  const missing = wanted.filter((ordinal) => !byOrdinal.has(ordinal))
  if (isParallel && missing.length > 0) return { kind: 'create', ordinals: missing }
  if (!isParallel) {
    for (const ordinal of wanted) {
      if (!byOrdinal.has(ordinal)) return { kind: 'create', ordinals: [ordinal] }
      if (!isHealthy(byOrdinal.get(ordinal))) return { kind: 'none' }
    }
  }
  const surplus = pods
    .filter((pod) => !wanted.includes(ordinalOf(set, pod)))
    .sort((a, b) => ordinalOf(set, b) - ordinalOf(set, a))
  if (surplus.length > 0) return deleteStep(isParallel ? surplus : surplus.slice(0, 1))
  return updateStep(set, { byOrdinal, wanted, isHealthy, updateRevision: context.updateRevision })
}

/** Pods that go already need no second deletion. */
function deleteStep(pods: readonly Pod[]): StatefulStep {
  const alive = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return alive.length === 0 ? { kind: 'none' } : { kind: 'delete', pods: alive }
}

function updateStep(
  set: StatefulSet,
  state: {
    byOrdinal: ReadonlyMap<number, Pod>
    wanted: readonly number[]
    isHealthy: (pod: Pod | undefined) => boolean
    updateRevision: string
  },
): StatefulStep {
  const { type = 'RollingUpdate', rollingUpdate } = set.spec?.updateStrategy ?? {}
  if (type !== 'RollingUpdate') return { kind: 'none' }
  const partition = rollingUpdate?.partition ?? 0
  for (const ordinal of state.wanted.toReversed()) {
    if (ordinal < partition) break
    const pod = state.byOrdinal.get(ordinal)
    if (pod === undefined) return { kind: 'none' }
    if (revisionOf(pod) !== state.updateRevision) return deleteStep([pod])
    if (!state.isHealthy(pod)) return { kind: 'none' }
  }
  return { kind: 'none' }
}

/** Name of the revision that a pod was made of. */
export function revisionOf(pod: Pod): string {
  return pod.metadata.labels?.[REVISION_LABEL] ?? ''
}

/** The revision for a new pod: the newest, except below the partition of an update. */
export function revisionFor(set: StatefulSet, ordinal: number, revisions: { current: string; update: string }): string {
  const { type = 'RollingUpdate', rollingUpdate } = set.spec?.updateStrategy ?? {}
  const isHeldBack = type === 'RollingUpdate' && ordinal < (rollingUpdate?.partition ?? 0)
  return isHeldBack ? revisions.current : revisions.update
}

/** The pod of an ordinal, with its name, identity and claims. */
export function statefulPod(set: StatefulSet, ordinal: number, made: { template: PodTemplate; revision: string }): Pod {
  const { name: setName = '', namespace } = set.metadata
  const name = `${setName}-${ordinal}`
  const { labels, annotations } = made.template.metadata ?? {}
  const claims = (set.spec?.volumeClaimTemplates ?? []).map((claim) => claim.metadata.name ?? '')
  const volumes = ((made.template.spec?.['volumes'] ?? []) as { name: string }[]).filter(
    (volume) => !claims.includes(volume.name),
  )
  const mounted = claims.map((claim) => ({
    name: claim,
    persistentVolumeClaim: { claimName: `${claim}-${name}` },
  }))
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...labels, [NAME_LABEL]: name, [INDEX_LABEL]: String(ordinal), [REVISION_LABEL]: made.revision },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [controllerReference(set, 'apps/v1', 'StatefulSet')],
    },
    spec: {
      ...made.template.spec,
      hostname: name,
      ...(set.spec?.serviceName ? { subdomain: set.spec.serviceName } : {}),
      ...(mounted.length + volumes.length === 0 ? {} : { volumes: [...mounted, ...volumes] }),
    },
  }
}

/** The claims of an ordinal's pod. */
export function statefulClaims(set: StatefulSet, ordinal: number): KubeObject[] {
  const { name: setName = '', namespace } = set.metadata
  const isOwned = set.spec?.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete'
  return (set.spec?.volumeClaimTemplates ?? []).map((template) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...template.metadata,
      name: `${template.metadata.name ?? ''}-${setName}-${ordinal}`,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...template.metadata.labels, ...set.spec?.selector?.matchLabels },
      ...(isOwned ? { ownerReferences: [controllerReference(set, 'apps/v1', 'StatefulSet')] } : {}),
    },
    spec: template['spec'],
  }))
}

/** The status that tells of these pods. */
export function statefulStatus(
  set: StatefulSet,
  pods: readonly Pod[],
  context: { current: string; update: string; nowMs: number },
): NonNullable<StatefulSet['status']> {
  const alive = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const count = (predicate: (pod: Pod) => boolean): number => alive.filter(predicate).length
  const wanted = set.spec?.replicas ?? 1
  const updated = count((pod) => revisionOf(pod) === context.update)
  const ready = count(isReadyPod)
  // The update is over when every pod is of it and ready: it is the current revision from then on.
  const isOver = updated === wanted && ready === wanted && pods.length === wanted
  const current = isOver ? context.update : context.current
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    ...positive('readyReplicas', ready),
    ...positive(
      'currentReplicas',
      count((pod) => revisionOf(pod) === current),
    ),
    ...positive('updatedReplicas', updated),
    currentRevision: current,
    updateRevision: context.update,
    collisionCount: 0,
    availableReplicas: count((pod) => isAvailablePod(pod, set.spec?.minReadySeconds ?? 0, context.nowMs)),
  }
}
