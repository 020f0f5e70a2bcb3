import { jsonEqual } from '#libs/kernel'
import type { Json } from '#libs/kube-model'
import type { Controller, ControllerContext } from './controller-context.ts'
import { keepRevision, pruneRevisions, revisionTemplate } from './controller-revisions.ts'
import { deleteObject } from './delete-object.ts'
import { cacheKey, objectKey, splitKey } from './informer.ts'
import { isEmptySelector } from './label-selector.ts'
import { controllerOf } from './owner-references.ts'
import type { Pod } from './pods.ts'
import {
  nextStatefulStep,
  ordinalOf,
  revisionFor,
  revisionOf,
  statefulClaims,
  statefulPod,
  statefulStatus,
} from './stateful-set.ts'
import type { StatefulSet } from './stateful-set.ts'
import { createWorkQueue } from './work-queue.ts'

const RESOURCE = 'statefulsets.apps'
const CLAIMS = 'persistentvolumeclaims'
const POD_CHANGE_DELAY_MS = 5

/** Keeps the numbered pods of every StatefulSet, with their claims. */
export function startStatefulSetController(context: ControllerContext): Controller {
  const { api, clock } = context
  const sets = context.informers.of(RESOURCE)
  const pods = context.informers.of('pods')
  const queue = createWorkQueue({ name: 'statefulset', reconcile, ...context })

  sets.onChange(({ object, isDeleted }) => {
    if (!isDeleted) queue.add(objectKey(object))
  })
  pods.onChange(({ object }) => {
    const owner = controllerOf(object)
    if (owner?.kind === 'StatefulSet') queue.add(cacheKey(object.metadata.namespace, owner.name), POD_CHANGE_DELAY_MS)
  })

  function reconcile(key: string): number | void {
    const { namespace, name } = splitKey(key)
    const set = api.get(RESOURCE, namespace, name) as StatefulSet | undefined
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return undefined
    if (isEmptySelector(set.spec?.selector)) return undefined
    const update = keepRevision(api, {
      object: set,
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      template: set.spec?.template ?? {},
    })
    const revisions = { update, current: set.status?.currentRevision || update }
    const step = nextStatefulStep(set, podsOf(set), { updateRevision: update, nowMs: clock.now() })
    if (step.kind === 'create') for (const ordinal of step.ordinals) createPod(set, ordinal, revisions)
    if (step.kind === 'delete') for (const pod of step.pods) deletePod(set, pod)
    report(set, revisions)
    // A pod may have to be ready for some time yet.
    return (set.spec?.minReadySeconds ?? 0) > 0 && step.kind === 'none' ? 1000 : undefined
  }

  function podsOf(set: StatefulSet): Pod[] {
    return (pods.controlledBy(set.metadata.uid ?? '') as Pod[]).filter((pod) => ordinalOf(set, pod) >= 0)
  }

  function createPod(set: StatefulSet, ordinal: number, revisions: { current: string; update: string }): void {
    for (const claim of statefulClaims(set, ordinal)) {
      const { namespace, name = '' } = claim.metadata
      if (api.get(CLAIMS, namespace, name) === undefined) api.create(CLAIMS, namespace, claim)
    }
    const revision = revisionFor(set, ordinal, revisions)
    const template = revisionTemplate(api, set.metadata.namespace, revision) ?? set.spec?.template ?? {}
    pods.observe(api.create('pods', set.metadata.namespace, statefulPod(set, ordinal, { template, revision })))
  }

  function deletePod(set: StatefulSet, pod: Pod): void {
    deleteObject(api, 'pods', pod)
    const current = api.get('pods', pod.metadata.namespace, pod.metadata.name ?? '')
    if (current !== undefined) pods.observe(current)
    const isSurplus = ordinalOf(set, pod) >= (set.spec?.ordinals?.start ?? 0) + (set.spec?.replicas ?? 1)
    if (!isSurplus || set.spec?.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return
    for (const { metadata } of statefulClaims(set, ordinalOf(set, pod))) {
      deleteObject(api, CLAIMS, { metadata: { namespace: metadata.namespace ?? '', name: metadata.name ?? '' } })
    }
  }

  function report(set: StatefulSet, revisions: { current: string; update: string }): void {
    const owned = podsOf(set)
    const status = statefulStatus(set, owned, { ...revisions, nowMs: clock.now() })
    if (!jsonEqual((set.status ?? {}) as Json, status as Json)) {
      sets.observe(api.update(RESOURCE, { ...set, status }, { subresource: 'status' }))
    }
    const inUse = new Set([...owned.map(revisionOf), String(status.currentRevision), String(status.updateRevision)])
    pruneRevisions(api, set, inUse)
  }

  return { close: () => queue.close() }
}
