import { jsonEqual } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import type { Controller, ControllerContext } from './controller-context.ts'
import { deleteObject } from './delete-object.ts'
import {
  HASH_LABEL,
  REVISION,
  findNewReplicaSet,
  isRollingUpdate,
  isSameTemplate,
  replicaSetAnnotations,
  replicasOf,
  revisionOf,
  sizeAnnotations,
  templateHash,
} from './deployment.ts'
import type { Deployment } from './deployment.ts'
import { isResized, resize, shrinkOld, sizeOfCurrent } from './deployment-scaling.ts'
import type { ReplicaSets, Scaling } from './deployment-scaling.ts'
import { deadlineMs, deploymentStatus, isComplete } from './deployment-status.ts'
import type { RolloutNews } from './deployment-status.ts'
import { cacheKey, objectKey, splitKey } from './informer.ts'
import { isEmptySelector, matchesSelector } from './label-selector.ts'
import { controllerOf, controllerReference, withOwner, withoutOwners } from './owner-references.ts'
import { isFinishedPod } from './pods.ts'
import type { Pod } from './pods.ts'
import type { ReplicaSet } from './replica-set.ts'
import { createWorkQueue } from './work-queue.ts'

const RESOURCE = 'deployments.apps'
const REPLICA_SETS = 'replicasets.apps'
const OWNER = { apiVersion: 'apps/v1', kind: 'Deployment' }

/** Rolls Deployments out: one ReplicaSet per pod template, sized step by step. */
export function startDeploymentController(context: ControllerContext): Controller {
  const { api, clock } = context
  const deployments = context.informers.of(RESOURCE)
  const replicaSets = context.informers.of(REPLICA_SETS)
  const pods = context.informers.of('pods')
  const queue = createWorkQueue({ name: 'deployment', reconcile, ...context })

  deployments.onChange(({ object, isDeleted }) => {
    if (!isDeleted) queue.add(objectKey(object))
  })
  replicaSets.onChange(({ object, previous }) => {
    wakeOwner(object)
    if (previous !== undefined) wakeOwner(previous)
    if (controllerOf(object) === undefined) wakeAdopters(object)
  })
  pods.onChange(({ object, isDeleted }) => {
    // Recreate waits for the last pod of the earlier templates.
    const owner = isDeleted ? controllerOf(object) : undefined
    const replicaSet = owner && replicaSets.get(object.metadata.namespace, owner.name)
    if (replicaSet !== undefined) wakeOwner(replicaSet)
  })

  function wakeOwner(replicaSet: KubeObject): void {
    const owner = controllerOf(replicaSet)
    if (owner?.kind === OWNER.kind) queue.add(cacheKey(replicaSet.metadata.namespace, owner.name))
  }

  function wakeAdopters(replicaSet: KubeObject): void {
    for (const deployment of deployments.inNamespace(replicaSet.metadata.namespace ?? '') as Deployment[]) {
      if (selects(deployment, replicaSet)) queue.add(objectKey(deployment))
    }
  }

  function reconcile(key: string): number | void {
    const { namespace, name } = splitKey(key)
    const deployment = api.get(RESOURCE, namespace, name) as Deployment | undefined
    if (deployment === undefined || isEmptySelector(deployment.spec?.selector)) return undefined
    const isDeleting = deployment.metadata.deletionTimestamp !== undefined
    const owned = claimReplicaSets(deployment, isDeleting)
    const sets = splitByTemplate(deployment, owned)
    if (isDeleting) return updateStatus(deployment, sets, 'none')
    if (deployment.spec?.paused || isResized(deployment, sets)) {
      scaleAll(deployment, resize(deployment, sets))
      return updateStatus(deployment, refreshed(sets), 'none')
    }
    return isRollingUpdate(deployment) ? rollingUpdate(deployment, sets) : recreate(deployment, sets)
  }

  function rollingUpdate(deployment: Deployment, sets: ReplicaSets): number | void {
    const { current, news } = keepCurrent(deployment, sets)
    const next = { current, old: sets.old }
    const size = sizeOfCurrent(deployment, next)
    const scalings =
      size === replicasOf(current) ? shrinkOld(deployment, next) : [{ replicaSet: current, replicas: size }]
    scaleAll(deployment, scalings)
    return updateStatus(deployment, refreshed(next), news)
  }

  function recreate(deployment: Deployment, sets: ReplicaSets): number | void {
    const active = sets.old.filter((replicaSet) => replicasOf(replicaSet) > 0)
    scaleAll(
      deployment,
      active.map((replicaSet) => ({ replicaSet, replicas: 0 })),
    )
    if (active.length > 0 || sets.old.some(hasPods)) return updateStatus(deployment, refreshed(sets), 'none')
    const { current, news } = keepCurrent(deployment, sets)
    const next = { current, old: sets.old }
    const size = sizeOfCurrent(deployment, next)
    if (size !== replicasOf(current)) scaleAll(deployment, [{ replicaSet: current, replicas: size }])
    return updateStatus(deployment, refreshed(next), news)
  }

  function hasPods(replicaSet: ReplicaSet): boolean {
    return (pods.controlledBy(replicaSet.metadata.uid ?? '') as Pod[]).some((pod) => !isFinishedPod(pod))
  }

  /** Owned ReplicaSets, after adopting those that the selector matches and letting go those it does not. */
  function claimReplicaSets(deployment: Deployment, isDeleting: boolean): ReplicaSet[] {
    const uid = deployment.metadata.uid ?? ''
    for (const replicaSet of replicaSets.controlledBy(uid)) {
      if (selects(deployment, replicaSet) || replicaSet.metadata.deletionTimestamp !== undefined) continue
      replicaSets.observe(api.update(REPLICA_SETS, withoutOwners(replicaSet, new Set([uid]))))
    }
    const reference = controllerReference(deployment, OWNER.apiVersion, OWNER.kind)
    for (const orphan of isDeleting ? [] : replicaSets.orphansIn(deployment.metadata.namespace ?? '')) {
      if (!selects(deployment, orphan) || orphan.metadata.deletionTimestamp !== undefined) continue
      replicaSets.observe(api.update(REPLICA_SETS, withOwner(orphan, reference)))
    }
    return replicaSets.controlledBy(uid) as ReplicaSet[]
  }

  /** The ReplicaSet of the current template, made if it is missing, with the newest revision. */
  function keepCurrent(deployment: Deployment, sets: ReplicaSets): { current: ReplicaSet; news: RolloutNews } {
    const revision = Math.max(0, ...sets.old.map(revisionOf)) + 1
    const current = sets.current
    if (current === undefined) {
      const created = createReplicaSet(deployment, sets, revision)
      keepRevision(deployment, revision)
      return { current: created, news: 'created' }
    }
    const own = Math.max(revision, revisionOf(current))
    keepRevision(deployment, own)
    const annotations = replicaSetAnnotations(deployment, current.metadata.annotations ?? {}, own)
    const minReadySeconds = deployment.spec?.minReadySeconds ?? 0
    const isSame =
      jsonEqual(annotations, current.metadata.annotations) && minReadySeconds === (current.spec?.minReadySeconds ?? 0)
    if (isSame) return { current, news: 'found' }
    const updated = api.update(REPLICA_SETS, {
      ...current,
      metadata: { ...current.metadata, annotations },
      spec: { ...current.spec, minReadySeconds },
    })
    replicaSets.observe(updated)
    return { current: updated as ReplicaSet, news: 'found' }
  }

  function createReplicaSet(deployment: Deployment, sets: ReplicaSets, revision: number): ReplicaSet {
    const { template = {}, selector, minReadySeconds } = deployment.spec ?? {}
    const { name = '', namespace } = deployment.metadata
    const hash = templateHash(template, deployment.status?.collisionCount)
    const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash }
    const replicaSet: ReplicaSet = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: `${name}-${hash}`,
        ...(namespace === undefined ? {} : { namespace }),
        labels,
        annotations: replicaSetAnnotations(deployment, undefined, revision),
        ownerReferences: [controllerReference(deployment, OWNER.apiVersion, OWNER.kind)],
      },
      spec: {
        replicas: sizeOfCurrent(deployment, sets),
        ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
        selector: { ...selector, matchLabels: { ...selector?.matchLabels, [HASH_LABEL]: hash } },
        template: { ...template, metadata: { ...template.metadata, labels } },
      },
    }
    try {
      const created = api.create(REPLICA_SETS, namespace, replicaSet) as ReplicaSet
      replicaSets.observe(created)
      return created
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'AlreadyExists') resolveCollision(deployment, replicaSet)
      throw error
    }
  }

  /** A name that is taken by another template is avoided by counting the collision into the hash. */
  function resolveCollision(deployment: Deployment, wanted: ReplicaSet): void {
    const taken = api.get(REPLICA_SETS, wanted.metadata.namespace, wanted.metadata.name ?? '') as ReplicaSet | undefined
    if (taken === undefined) return
    replicaSets.observe(taken)
    const isOwn = controllerOf(taken)?.uid === deployment.metadata.uid
    if (isOwn && isSameTemplate(taken.spec?.template ?? {}, wanted.spec?.template ?? {})) return
    const status = { ...deployment.status, collisionCount: (deployment.status?.collisionCount ?? 0) + 1 }
    deployments.observe(api.update(RESOURCE, { ...deployment, status }, { subresource: 'status' }))
  }

  function keepRevision(deployment: Deployment, revision: number): void {
    if (deployment.metadata.annotations?.[REVISION] === String(revision)) return
    const annotations = { ...deployment.metadata.annotations, [REVISION]: String(revision) }
    const updated = api.update(RESOURCE, { ...deployment, metadata: { ...deployment.metadata, annotations } })
    deployments.observe(updated)
    // The status update that follows is of this version.
    deployment.metadata = updated.metadata
  }

  function scaleAll(deployment: Deployment, scalings: readonly Scaling[]): void {
    const sizes = sizeAnnotations(deployment)
    for (const { replicaSet, replicas } of scalings) {
      const annotations = { ...replicaSet.metadata.annotations, ...sizes }
      if (replicasOf(replicaSet) === replicas && jsonEqual(annotations, replicaSet.metadata.annotations)) continue
      const metadata = { ...replicaSet.metadata, annotations }
      replicaSets.observe(api.update(REPLICA_SETS, { ...replicaSet, metadata, spec: { ...replicaSet.spec, replicas } }))
    }
  }

  function refreshed(sets: ReplicaSets): ReplicaSets {
    const latest = (replicaSet: ReplicaSet): ReplicaSet =>
      (replicaSets.get(replicaSet.metadata.namespace, replicaSet.metadata.name ?? '') as ReplicaSet | undefined) ??
      replicaSet
    return { current: sets.current && latest(sets.current), old: sets.old.map(latest) }
  }

  function updateStatus(deployment: Deployment, sets: ReplicaSets, news: RolloutNews): number | void {
    const nowMs = clock.now()
    const status = deploymentStatus(deployment, sets, { nowMs, news })
    if (isComplete(deployment, status)) cleanUp(deployment, sets)
    if (!jsonEqual(status, deployment.status)) {
      deployments.observe(api.update(RESOURCE, { ...deployment, status }, { subresource: 'status' }))
    }
    return deadlineMs(deployment, status, nowMs)
  }

  /** Deletes the earliest ReplicaSets beyond the history limit, if nothing of them is left. */
  function cleanUp(deployment: Deployment, sets: ReplicaSets): void {
    const kept = sets.old.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    const excess = kept.length - (deployment.spec?.revisionHistoryLimit ?? 10)
    if (excess <= 0) return
    for (const replicaSet of kept.toSorted((a, b) => revisionOf(a) - revisionOf(b)).slice(0, excess)) {
      const { generation = 0 } = replicaSet.metadata
      const isUsed = replicasOf(replicaSet) > 0 || (replicaSet.status?.replicas ?? 0) > 0
      if (isUsed || generation > (replicaSet.status?.observedGeneration ?? 0)) continue
      deleteObject(api, REPLICA_SETS, replicaSet)
    }
  }

  return { close: () => queue.close() }
}

function selects(deployment: Deployment, replicaSet: KubeObject): boolean {
  const selector = deployment.spec?.selector
  return selector !== undefined && !isEmptySelector(selector) && matchesSelector(selector, replicaSet.metadata.labels)
}

function splitByTemplate(deployment: Deployment, owned: readonly ReplicaSet[]): ReplicaSets {
  const current = findNewReplicaSet(deployment, owned)
  return { current, old: owned.filter((replicaSet) => replicaSet !== current) }
}
