import { jsonEqual } from '#libs/kernel'
import type { Json, KubeObject } from '#libs/kube-model'
import type { Controller, ControllerContext } from './controller-context.ts'
import { disruptionStatus } from './disruption.ts'
import type { DisruptionBudget } from './disruption.ts'
import { objectKey, splitKey } from './informer.ts'
import { matchesSelector } from './label-selector.ts'
import { controllerOf } from './owner-references.ts'
import { isFinishedPod } from './pods.ts'
import type { Pod } from './pods.ts'
import { createWorkQueue } from './work-queue.ts'

const BUDGETS = 'poddisruptionbudgets.policy'
/** Gathers the changes of many pods into one count. */
const POD_CHANGE_DELAY_MS = 20
/** Evictions that came to nothing are forgotten by then. */
const RECHECK_MS = 60_000

/** Kinds that say how many pods they want. */
const SCALED: Readonly<Record<string, string>> = {
  ReplicaSet: 'replicasets.apps',
  StatefulSet: 'statefulsets.apps',
  ReplicationController: 'replicationcontrollers',
}

/** Counts for every PodDisruptionBudget how many of its pods may be evicted. */
export function startDisruptionController(context: ControllerContext): Controller {
  const { api, clock } = context
  const budgets = context.informers.of(BUDGETS)
  const pods = context.informers.of('pods')
  const queue = createWorkQueue({ name: 'disruption', reconcile, ...context })

  budgets.onChange(({ object, isDeleted }) => {
    if (!isDeleted) queue.add(objectKey(object))
  })
  pods.onChange(({ object, previous }) => {
    for (const budget of budgets.inNamespace(object.metadata.namespace ?? '')) {
      const isConcerned = guards(budget, object) || (previous !== undefined && guards(budget, previous))
      if (isConcerned) queue.add(objectKey(budget), POD_CHANGE_DELAY_MS)
    }
  })

  function reconcile(key: string): number | void {
    const { namespace, name } = splitKey(key)
    const budget = api.get(BUDGETS, namespace, name) as DisruptionBudget | undefined
    if (budget === undefined || budget.metadata.deletionTimestamp !== undefined) return undefined
    const selected = (pods.inNamespace(namespace) as Pod[]).filter((pod) => guards(budget, pod) && !isFinishedPod(pod))
    const status = disruptionStatus(budget, selected, { expected: expectedBy(selected), nowMs: clock.now() })
    if (!jsonEqual((budget.status ?? {}) as Json, status as Json)) {
      budgets.observe(api.update(BUDGETS, { ...budget, status }, { subresource: 'status' }))
    }
    return status.disruptedPods === undefined ? undefined : RECHECK_MS
  }

  /** What the controllers of these pods want; a pod without one wants itself. */
  function expectedBy(selected: readonly Pod[]): number {
    const counted = new Set<string>()
    let expected = 0
    for (const pod of selected) {
      const owner = controllerOf(pod)
      const resource = owner === undefined ? undefined : SCALED[owner.kind]
      if (owner === undefined || resource === undefined) expected += 1
      else if (!counted.has(owner.uid)) {
        counted.add(owner.uid)
        const object = api.get(resource, pod.metadata.namespace, owner.name)
        expected += (object?.['spec'] as { replicas?: number } | undefined)?.replicas ?? 1
      }
    }
    return expected
  }

  return { close: () => queue.close() }
}

function guards(budget: KubeObject, pod: KubeObject): boolean {
  const { selector } = (budget as DisruptionBudget).spec ?? {}
  return selector !== undefined && matchesSelector(selector, pod.metadata.labels)
}
