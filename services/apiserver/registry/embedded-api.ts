import { cloneJson } from '#libs/kernel'
import { ApiError } from '../api-error.ts'
import type { ClusterApi, ClusterEvent, DeleteOptions } from '../cluster-api.ts'
import type { ApiResource } from '../discovery/resources.ts'
import { parseLabelSelector } from '../selectors/label-selector.ts'
import type { Cluster } from './cluster.ts'
import { createObject } from './create.ts'
import { deleteObject } from './delete.ts'
import { updateObject } from './update.ts'

/** Field manager of the controllers' writes. */
const MANAGER = 'kube-controller-manager'

/** The port for controllers in this process. `close` stops all subscriptions. */
export function createEmbeddedApi(cluster: Cluster, manager = MANAGER): ClusterApi & { close(): void } {
  const { store } = cluster
  const options = { manager }
  const stops = new Set<() => void>()
  const events = new EventQueue()
  return {
    list: (token, { namespace, labelSelector } = {}) => {
      const objects = store.list(token, namespace).map(({ object }) => object)
      if (labelSelector === undefined) return objects
      const matches = parseLabelSelector(labelSelector)
      return objects.filter(({ metadata }) => matches(metadata.labels))
    },
    get: (token, namespace, name) => {
      const stored = store.get(token, namespace ?? '', name)
      return stored === undefined ? undefined : cloneJson(stored.object)
    },
    create: (token, namespace, object) => {
      const resource = requireResource(cluster, token)
      return createObject(cluster, { resource, namespace: namespace ?? '' }, { object: cloneJson(object), options })
    },
    update: (token, object, { subresource } = {}) => {
      const resource = requireResource(cluster, token)
      const { name = '', namespace = '' } = object.metadata
      return updateObject(
        cluster,
        { resource, namespace: resource.namespaced ? namespace : '', name },
        { produce: () => cloneJson(object), subresource, options },
      )
    },
    delete: (token, namespace, name, request: DeleteOptions = {}) => {
      const resource = requireResource(cluster, token)
      deleteObject(cluster, { resource, namespace: namespace ?? '', name }, request)
    },
    subscribe: (token, listener) => {
      let isActive = true
      const unsubscribe = store.subscribe(token, ({ type, current }) => {
        // Taken now: later the version may have been replaced and its parsed form let go.
        const { object } = current
        events.push(() => {
          if (isActive) listener({ type, object } satisfies ClusterEvent)
        })
      })
      const stop = (): void => {
        isActive = false
        unsubscribe()
        stops.delete(stop)
      }
      stops.add(stop)
      return stop
    },
    close: () => {
      for (const stop of stops) stop()
    },
  }
}

function requireResource(cluster: Cluster, token: string): ApiResource {
  const resource = cluster.catalog.byToken(token)
  if (resource === undefined) throw ApiError.notServed()
  return resource
}

/** Calls functions later and in order, some at a time so that requests get their turn. */
class EventQueue {
  #waiting: (() => void)[] = []
  #isScheduled = false

  push(call: () => void): void {
    this.#waiting.push(call)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#drain())
  }

  #drain(): void {
    const batch = this.#waiting
    this.#waiting = []
    this.#isScheduled = false
    for (const call of batch) call()
  }
}
