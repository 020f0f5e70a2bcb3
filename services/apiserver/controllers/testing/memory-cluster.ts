import { cloneJson, jsonEqual } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'
import { ApiError } from '../../api-error.ts'
import type { ClusterApi, ClusterEvent, DeleteOptions } from '../../cluster-api.ts'

/** A cluster without HTTP, schema and storage: the rules of the API that controllers live by. */
export function createMemoryCluster(now: () => number): ClusterApi {
  const objects = new Map<string, KubeObject>()
  const listeners = new Map<string, Set<(event: ClusterEvent) => void>>()
  let counter = 0

  const keyOf = (resource: string, namespace: string | undefined, name: string): string =>
    `${resource}|${namespace ?? ''}|${name}`
  const stamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

  function write(resource: string, type: ClusterEvent['type'], object: KubeObject): KubeObject {
    object.metadata.resourceVersion = String(++counter)
    const key = keyOf(resource, object.metadata.namespace, object.metadata.name ?? '')
    if (type === 'DELETED') objects.delete(key)
    else objects.set(key, object)
    setImmediate(() => {
      for (const listener of listeners.get(resource) ?? []) listener({ type, object })
    })
    return cloneJson(object)
  }

  function require(resource: string, namespace: string | undefined, name: string): KubeObject {
    const object = objects.get(keyOf(resource, namespace, name))
    if (object === undefined) throw ApiError.notFound({ group: '', plural: resource }, name)
    return object
  }

  function isHeld(object: KubeObject): boolean {
    const spec = (object['spec'] ?? {}) as { finalizers?: string[]; nodeName?: string }
    if (object.kind === 'Namespace' && (spec.finalizers ?? []).length > 0) return true
    return (object.metadata.finalizers ?? []).length > 0 || (object.metadata.deletionGracePeriodSeconds ?? 0) > 0
  }

  function update(resource: string, object: KubeObject, subresource?: string): KubeObject {
    const { namespace, name = '', resourceVersion } = object.metadata
    const stored = require(resource, namespace, name)
    if (resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion) {
      throw ApiError.staleVersion({ group: '', plural: resource }, name)
    }
    const { generation = 1, ...metadata } = stored.metadata
    const next: KubeObject =
      subresource === 'status' ? { ...stored, status: object['status'] } : { ...object, status: stored['status'] }
    const isNewSpec = !jsonEqual(next['spec'], stored['spec'])
    next.metadata = {
      ...(subresource === 'status' ? metadata : object.metadata),
      generation: generation + Number(isNewSpec),
    }
    const isFinal = next.metadata.deletionTimestamp !== undefined && !isHeld(next)
    return write(resource, isFinal ? 'DELETED' : 'MODIFIED', cloneJson(next))
  }

  function remove(resource: string, object: KubeObject, options: DeleteOptions): void {
    const { metadata } = object
    if (options.uid !== undefined && options.uid !== metadata.uid) {
      throw ApiError.conflict({ group: '', plural: resource }, metadata.name ?? '', 'the UID does not match')
    }
    if (options.resourceVersion !== undefined && options.resourceVersion !== metadata.resourceVersion) {
      throw ApiError.staleVersion({ group: '', plural: resource }, metadata.name ?? '')
    }
    const finalizer = { Foreground: 'foregroundDeletion', Orphan: 'orphan', Background: undefined }[
      options.propagationPolicy ?? 'Background'
    ]
    const isBound = resource === 'pods' && (object['spec'] as { nodeName?: string }).nodeName !== undefined
    const next = cloneJson(object)
    next.metadata.deletionGracePeriodSeconds = isBound ? (options.gracePeriodSeconds ?? 30) : 0
    next.metadata.deletionTimestamp ??= stamp(now())
    if (finalizer !== undefined) next.metadata.finalizers = [...(metadata.finalizers ?? []), finalizer]
    write(resource, isHeld(next) ? 'MODIFIED' : 'DELETED', next)
  }

  return {
    list: (resource, options = {}) =>
      [...objects]
        .filter(([key]) =>
          key.startsWith(`${resource}|${options.namespace === undefined ? '' : `${options.namespace}|`}`),
        )
        .map(([, object]) => object),
    get: (resource, namespace, name) => cloneJson(objects.get(keyOf(resource, namespace, name))),
    create: (resource, namespace, object) => {
      const { name = '' } = object.metadata
      if (objects.has(keyOf(resource, namespace, name))) {
        throw ApiError.alreadyExists({ group: '', plural: resource, kind: object.kind ?? '' }, name)
      }
      if (
        namespace !== undefined &&
        objects.get(keyOf('namespaces', undefined, namespace))?.metadata.deletionTimestamp
      ) {
        const causes = [{ reason: 'NamespaceTerminating' }]
        throw ApiError.forbidden({ group: '', plural: resource }, name, 'the namespace is being terminated', causes)
      }
      const created = cloneJson(object)
      const creationTimestamp = stamp(now())
      created.metadata = { ...created.metadata, uid: `uid-${String(counter + 1)}`, generation: 1, creationTimestamp }
      if (namespace !== undefined) created.metadata.namespace = namespace
      if (resource === 'namespaces') created['spec'] = { finalizers: ['kubernetes'] }
      return write(resource, 'ADDED', created)
    },
    update: (resource, object, options = {}) => update(resource, object, options.subresource),
    delete: (resource, namespace, name, options = {}) => remove(resource, require(resource, namespace, name), options),
    subscribe: (resource, listener) => {
      const members = listeners.get(resource) ?? new Set()
      listeners.set(resource, members.add(listener))
      return () => void members.delete(listener)
    },
  }
}
