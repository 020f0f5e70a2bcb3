import { resourceToken } from '#libs/kube-model'
import type { KubeObject } from '#libs/kube-model'
import { setCondition } from './conditions.ts'
import type { Condition } from './conditions.ts'
import { timestamp } from './controller-context.ts'
import type { Controller, ControllerContext } from './controller-context.ts'
import { deleteObject } from './delete-object.ts'
import type { GraphNode, ObjectGraph } from './object-graph.ts'
import { createWorkQueue } from './work-queue.ts'

type Namespace = KubeObject & {
  spec?: { finalizers?: string[] }
  status?: { phase?: string; conditions?: Condition[] }
}

/** Looks again at a namespace that does not become empty; deletions in it wake it earlier. */
const RECHECK_MS = 5000

/**
 * Empties namespaces that are being deleted and then lets them go. Pods go first and with their grace period; what they
 * use (ConfigMaps, Secrets) stays until they are gone.
 */
export function startNamespaceController(context: ControllerContext, graph: ObjectGraph): Controller {
  const { api, clock } = context
  const namespaces = context.informers.of('namespaces')
  const queue = createWorkQueue({ name: 'namespace', reconcile, ...context })
  const isTerminating = (name: string): boolean =>
    namespaces.get(undefined, name)?.metadata.deletionTimestamp !== undefined

  namespaces.onChange(({ object, isDeleted }) => {
    if (!isDeleted && object.metadata.deletionTimestamp !== undefined) queue.add(object.metadata.name ?? '')
  })
  graph.onChange(({ node }) => {
    if (node.namespace !== '' && isTerminating(node.namespace)) queue.add(node.namespace, 5)
  })

  function reconcile(name: string): number | void {
    const namespace = api.get('namespaces', undefined, name) as Namespace | undefined
    if (namespace?.metadata.deletionTimestamp === undefined) return undefined
    if (deleteContent(name)) {
      const empty = { ...namespace, spec: { ...namespace.spec, finalizers: [] } }
      if ((namespace.spec?.finalizers ?? []).length > 0) api.update('namespaces', empty, { subresource: 'finalize' })
      return undefined
    }
    reportRemaining(namespace)
    return RECHECK_MS
  }

  /** Deletes what is left to delete; true when nothing was there any more. */
  function deleteContent(namespace: string): boolean {
    // The graph may lag behind the store by the events under way: only the store knows that nothing is left.
    if (graph.countIn(namespace) === 0 && isEmptyInStore(namespace)) return true
    const nodes = [...graph.nodesIn(namespace)]
    const pods = nodes.filter(({ resource }) => resource === 'pods')
    for (const node of pods.length > 0 ? pods : nodes) {
      if (!node.isDeleting) deleteNode(node)
    }
    return false
  }

  function isEmptyInStore(namespace: string): boolean {
    return graph
      .namespacedResources()
      .every((resource) => api.list(resourceToken(resource), { namespace }).length === 0)
  }

  function deleteNode(node: GraphNode): void {
    deleteObject(
      api,
      node.resource,
      { metadata: { name: node.name, namespace: node.namespace, uid: node.uid } },
      { propagationPolicy: 'Background' },
    )
  }

  function reportRemaining(namespace: Namespace): void {
    const name = namespace.metadata.name ?? ''
    const counts = new Map<string, number>()
    for (const { resource } of graph.nodesIn(name)) counts.set(resource, (counts.get(resource) ?? 0) + 1)
    const remaining = [...counts].map(([resource, count]) => `${resource} has ${count} resource instances`).join(', ')
    if (remaining === '') return
    const condition: Condition = {
      type: 'NamespaceContentRemaining',
      status: 'True',
      reason: 'SomeResourcesRemain',
      message: `Some resources are remaining: ${remaining}`,
    }
    const conditions = setCondition(namespace.status?.conditions, condition, timestamp(clock))
    if (conditions.length === namespace.status?.conditions?.length) return
    api.update('namespaces', { ...namespace, status: { ...namespace.status, conditions } }, { subresource: 'status' })
  }

  return { close: () => queue.close() }
}
