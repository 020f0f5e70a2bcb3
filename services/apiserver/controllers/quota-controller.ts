import { jsonEqual } from '#libs/kernel'
import type { Json } from '#libs/kube-model'
import { countQuota } from '../admission/quota.ts'
import { countedResources } from '../admission/quota-usage.ts'
import { asObject, at } from '../schema/json-shape.ts'
import type { Controller, ControllerContext } from './controller-context.ts'
import { objectKey, splitKey } from './informer.ts'
import type { ObjectGraph } from './object-graph.ts'
import { createWorkQueue } from './work-queue.ts'

/** Gathers the changes of many objects into one count. */
const CHANGE_DELAY_MS = 25

/** Keeps the status of ResourceQuotas true to what is there. Admission books new objects itself, at once. */
export function startQuotaController(context: ControllerContext, graph: ObjectGraph): Controller {
  const { api } = context
  const quotas = context.informers.of('resourcequotas')
  const queue = createWorkQueue({ name: 'resource-quota', reconcile, ...context })

  quotas.onChange(({ object, isDeleted }) => {
    if (!isDeleted) queue.add(objectKey(object))
  })
  graph.onChange(({ node }) => {
    for (const quota of quotas.inNamespace(node.namespace)) {
      const isCounted = countedResources(asObject(at(quota, 'spec', 'hard'))).has(node.resource)
      if (isCounted && node.resource !== 'resourcequotas') queue.add(objectKey(quota), CHANGE_DELAY_MS)
    }
  })

  function reconcile(key: string): void {
    const { namespace, name } = splitKey(key)
    const quota = api.get('resourcequotas', namespace, name)
    if (quota === undefined || quota.metadata.deletionTimestamp !== undefined) return
    const status = countQuota((token, place) => api.list(token, { namespace: place }), quota)
    if (jsonEqual((quota['status'] ?? {}) as Json, status)) return
    api.update('resourcequotas', { ...quota, status }, { subresource: 'status' })
  }

  return { close: () => queue.close() }
}
