import { errorMessage, jsonEqual } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import type { Controller, ControllerContext } from './controller-context.ts'
import { deleteObject } from './delete-object.ts'
import { cacheKey, objectKey, splitKey } from './informer.ts'
import { isEmptySelector, matchesSelector } from './label-selector.ts'
import { controllerOf, controllerReference, withOwner, withoutOwners } from './owner-references.ts'
import { isActivePod } from './pods.ts'
import type { Pod } from './pods.ts'
import { nextAvailabilityMs, nextReplicaStep, podFromTemplate, replicaSetStatus } from './replica-set.ts'
import type { ReplicaSet } from './replica-set.ts'
import { createWorkQueue } from './work-queue.ts'

const RESOURCE = 'replicasets.apps'
const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet' }
/** Gathers the status changes of many pods into one reconciliation. */
const POD_CHANGE_DELAY_MS = 15

type StepOutcome = { isComplete: boolean; error?: Error }

/** Keeps as many pods of every ReplicaSet as it asks for, and its status. */
export function startReplicaSetController(context: ControllerContext): Controller {
  const { api, clock, random } = context
  const replicaSets = context.informers.of(RESOURCE)
  const pods = context.informers.of('pods')
  const queue = createWorkQueue({ name: 'replicaset', reconcile, ...context })

  replicaSets.onChange(({ object, previous, isDeleted }) => {
    if (isDeleted || isStatusChange(object, previous)) return
    queue.add(objectKey(object))
  })
  pods.onChange(({ object, previous, isDeleted }) => {
    const owner = controllerOf(object)
    const formerOwner = previous === undefined ? undefined : controllerOf(previous)
    for (const reference of new Set([owner, formerOwner])) {
      if (reference?.kind !== OWNER.kind) continue
      queue.add(cacheKey(object.metadata.namespace, reference.name), isDeleted ? 0 : POD_CHANGE_DELAY_MS)
    }
    if (owner === undefined && !isDeleted) wakeAdopters(object)
  })

  function wakeAdopters(pod: Pod): void {
    for (const replicaSet of replicaSets.inNamespace(pod.metadata.namespace ?? '') as ReplicaSet[]) {
      const selector = replicaSet.spec?.selector
      if (selector !== undefined && !isEmptySelector(selector) && matchesSelector(selector, pod.metadata.labels)) {
        queue.add(objectKey(replicaSet))
      }
    }
  }

  function reconcile(key: string): number | void {
    const { namespace, name } = splitKey(key)
    const replicaSet = api.get(RESOURCE, namespace, name) as ReplicaSet | undefined
    if (replicaSet === undefined || isEmptySelector(replicaSet.spec?.selector)) return undefined
    const isDeleting = replicaSet.metadata.deletionTimestamp !== undefined
    claimPods(replicaSet, isDeleting)
    const outcome: StepOutcome = isDeleting ? { isComplete: true } : scale(replicaSet)
    const owned = podsOf(replicaSet)
    updateStatus(replicaSet, owned, outcome.error)
    // A namespace that is going refuses new pods for good: nothing to retry.
    if (outcome.error !== undefined && !isTerminating(outcome.error)) throw outcome.error
    if (!outcome.isComplete && outcome.error === undefined) return 1
    return nextAvailabilityMs(replicaSet, owned, clock.now())
  }

  function podsOf(replicaSet: ReplicaSet): Pod[] {
    return pods.controlledBy(replicaSet.metadata.uid ?? '') as Pod[]
  }

  /** Takes in pods that the selector matches and no one controls; lets go those it does not match any more. */
  function claimPods(replicaSet: ReplicaSet, isDeleting: boolean): void {
    const selector = replicaSet.spec?.selector ?? {}
    for (const pod of podsOf(replicaSet)) {
      if (matchesSelector(selector, pod.metadata.labels) || pod.metadata.deletionTimestamp !== undefined) continue
      pods.observe(api.update('pods', withoutOwners(pod, new Set([replicaSet.metadata.uid ?? '']))))
    }
    if (isDeleting) return
    const reference = controllerReference(replicaSet, OWNER.apiVersion, OWNER.kind)
    for (const pod of pods.orphansIn(replicaSet.metadata.namespace ?? '') as Pod[]) {
      if (isActivePod(pod) && matchesSelector(selector, pod.metadata.labels)) {
        pods.observe(api.update('pods', withOwner(pod, reference)))
      }
    }
  }

  /** One step towards the wanted number of pods. */
  function scale(replicaSet: ReplicaSet): StepOutcome {
    const step = nextReplicaStep(replicaSet, podsOf(replicaSet))
    try {
      switch (step.kind) {
        case 'none':
          return { isComplete: true }
        case 'create':
          for (let index = 0; index < step.count; index++) createPod(replicaSet)
          return { isComplete: false }
        case 'delete':
          for (const pod of step.pods) deletePod(pod)
          // The next step sees the deletions by their events.
          return { isComplete: true }
      }
    } catch (error) {
      return { isComplete: false, error: error instanceof Error ? error : new Error(String(error)) }
    }
  }

  function createPod(replicaSet: ReplicaSet): void {
    const pod = podFromTemplate(replicaSet, replicaSet.spec?.template ?? {}, { ...OWNER, random })
    pods.observe(api.create('pods', replicaSet.metadata.namespace, pod))
  }

  function deletePod(pod: Pod): void {
    const { namespace, name = '' } = pod.metadata
    deleteObject(api, 'pods', pod)
    const current = api.get('pods', namespace, name)
    if (current !== undefined) pods.observe(current)
  }

  function updateStatus(replicaSet: ReplicaSet, owned: readonly Pod[], error: unknown): void {
    const failure = error === undefined ? undefined : { reason: 'FailedCreate', message: errorMessage(error) }
    const status = replicaSetStatus(replicaSet, owned, { nowMs: clock.now(), failure })
    if (jsonEqual(status, replicaSet.status)) return
    replicaSets.observe(api.update(RESOURCE, { ...replicaSet, status }, { subresource: 'status' }))
  }

  return { close: () => queue.close() }
}

/** Own status writes need no further look. */
function isStatusChange(object: KubeObject, previous: KubeObject | undefined): boolean {
  return (
    previous !== undefined &&
    previous.metadata.uid === object.metadata.uid &&
    previous.metadata.generation === object.metadata.generation &&
    previous.metadata.deletionTimestamp === object.metadata.deletionTimestamp
  )
}

function isTerminating(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.code !== 403) return false
  return (error.status.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating')
}
