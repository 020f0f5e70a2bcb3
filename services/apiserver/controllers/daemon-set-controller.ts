import { jsonEqual } from '#libs/kernel'
import type { Json, KubeObject } from '#libs/kube-model'
import type { Controller, ControllerContext } from './controller-context.ts'
import { REVISION_LABEL, keepRevision, pruneRevisions } from './controller-revisions.ts'
import { daemonPod, daemonStatus, planDaemons } from './daemon-set.ts'
import type { DaemonSet, DaemonState } from './daemon-set.ts'
import { deleteObject } from './delete-object.ts'
import { cacheKey, objectKey, splitKey } from './informer.ts'
import { isEmptySelector } from './label-selector.ts'
import { controllerOf } from './owner-references.ts'
import type { Pod } from './pods.ts'
import { createWorkQueue } from './work-queue.ts'

const RESOURCE = 'daemonsets.apps'
const POD_CHANGE_DELAY_MS = 15

/** Keeps one pod of every DaemonSet on each node that fits. */
export function startDaemonSetController(context: ControllerContext): Controller {
  const { api, clock, random } = context
  const sets = context.informers.of(RESOURCE)
  const pods = context.informers.of('pods')
  const queue = createWorkQueue({ name: 'daemonset', reconcile, ...context })
  const nodes = new Map<string, KubeObject>()

  sets.onChange(({ object, isDeleted }) => {
    if (!isDeleted) queue.add(objectKey(object))
  })
  pods.onChange(({ object }) => {
    const owner = controllerOf(object)
    if (owner?.kind === 'DaemonSet') queue.add(cacheKey(object.metadata.namespace, owner.name), POD_CHANGE_DELAY_MS)
  })
  context.informers.of('nodes').onChange(({ object, previous, isDeleted }) => {
    const name = object.metadata.name ?? ''
    if (isDeleted) nodes.delete(name)
    else nodes.set(name, object)
    if (isDeleted || previous === undefined || traitsOf(object) !== traitsOf(previous)) {
      for (const set of api.list(RESOURCE)) queue.add(objectKey(set))
    }
  })

  function reconcile(key: string): void {
    const { namespace, name } = splitKey(key)
    const set = api.get(RESOURCE, namespace, name) as DaemonSet | undefined
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return
    if (isEmptySelector(set.spec?.selector)) return
    const template = set.spec?.template ?? {}
    const revisionName = keepRevision(api, { object: set, apiVersion: 'apps/v1', kind: 'DaemonSet', template })
    const revision = revisionName.slice(name.length + 1)
    const plan = planDaemons(set, stateOf(set, revision))
    for (const pod of plan.delete) deletePod(pod)
    for (const node of plan.create) {
      pods.observe(api.create('pods', namespace, daemonPod(set, node, { revision, random })))
    }
    const status = daemonStatus(set, stateOf(set, revision))
    if (!jsonEqual((set.status ?? {}) as Json, status as Json)) {
      sets.observe(api.update(RESOURCE, { ...set, status }, { subresource: 'status' }))
    }
    const hashes = (pods.controlledBy(set.metadata.uid ?? '') as Pod[]).map(
      ({ metadata }) => `${name}-${metadata.labels?.[REVISION_LABEL] ?? ''}`,
    )
    pruneRevisions(api, set, new Set([...hashes, revisionName]))
  }

  function stateOf(set: DaemonSet, revision: string): DaemonState {
    const owned = pods.controlledBy(set.metadata.uid ?? '') as Pod[]
    return { nodes: [...nodes.values()], pods: owned, revision, nowMs: clock.now() }
  }

  function deletePod(pod: Pod): void {
    deleteObject(api, 'pods', pod)
    const current = api.get('pods', pod.metadata.namespace, pod.metadata.name ?? '')
    if (current !== undefined) pods.observe(current)
  }

  return { close: () => queue.close() }
}

/** What decides whether pods fit. */
const traitsOf = ({ metadata, spec }: KubeObject): string => JSON.stringify([metadata.labels, spec])
