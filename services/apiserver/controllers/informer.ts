import type { KubeObject } from '#libs/kube-model'
import type { ClusterApi } from '../cluster-api.ts'
import { controllerOf } from './owner-references.ts'

/** One change of the cache. `object` is the last state when it `isDeleted`. */
type InformerChange = { object: KubeObject; previous: KubeObject | undefined; isDeleted: boolean }

/** The objects of one resource, kept current and indexed. Objects are shared: never change them. */
type Informer = {
  get(namespace: string | undefined, name: string): KubeObject | undefined
  /** Objects of a namespace. */
  inNamespace(namespace: string): KubeObject[]
  /** Objects whose controller has this uid. */
  controlledBy(uid: string): KubeObject[]
  /** Objects of a namespace that no controller owns. */
  orphansIn(namespace: string): KubeObject[]
  /** Takes over the answer of a write, so that the next reconciliation does not act on what it has just changed. */
  observe(object: KubeObject): void
  /** Calls back for every object that is there now, as if it were added, and for every change. */
  onChange(listener: (change: InformerChange) => void): void
}

/** The caches of a cluster; controllers that read the same resource share one. */
export type Informers = {
  of(resource: string): Informer
  close(): void
}

/** Caches that fill when they are first asked for. */
export function createInformers(api: ClusterApi): Informers {
  const running = new Map<string, { informer: Informer; close: () => void }>()
  return {
    of: (resource) => {
      const known = running.get(resource)
      if (known !== undefined) return known.informer
      const started = startInformer(api, resource)
      running.set(resource, started)
      return started.informer
    },
    close: () => {
      for (const { close } of running.values()) close()
    },
  }
}

/** The cache's key of an object. */
export function objectKey(object: KubeObject): string {
  return cacheKey(object.metadata.namespace, object.metadata.name ?? '')
}

/** `namespace/name`; the namespace is empty for cluster-scoped objects. */
export function cacheKey(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`
}

/** Takes a key apart. */
export function splitKey(key: string): { namespace: string; name: string } {
  const slash = key.indexOf('/')
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

type Index = Map<string, Map<string, KubeObject>>

function startInformer(api: ClusterApi, resource: string): { informer: Informer; close: () => void } {
  const objects = new Map<string, KubeObject>()
  const byNamespace: Index = new Map()
  const byController: Index = new Map()
  const listeners: ((change: InformerChange) => void)[] = []

  function store(object: KubeObject): void {
    const key = objectKey(object)
    const previous = objects.get(key)
    // Events come after the call that made them: the answer of that call may be here already.
    if (previous !== undefined && revisionOf(object) <= revisionOf(previous)) return
    if (previous !== undefined) unindex(key, previous)
    objects.set(key, object)
    put(byNamespace, object.metadata.namespace ?? '', key, object)
    put(byController, controllerIndexKey(object), key, object)
    notify({ object, previous, isDeleted: false })
  }

  function remove(object: KubeObject): void {
    const key = objectKey(object)
    const previous = objects.get(key)
    if (previous === undefined || previous.metadata.uid !== object.metadata.uid) return
    unindex(key, previous)
    objects.delete(key)
    notify({ object, previous, isDeleted: true })
  }

  function unindex(key: string, object: KubeObject): void {
    drop(byNamespace, object.metadata.namespace ?? '', key)
    drop(byController, controllerIndexKey(object), key)
  }

  function notify(change: InformerChange): void {
    for (const listener of listeners) listener(change)
  }

  const close = api.subscribe(resource, ({ type, object }) => (type === 'DELETED' ? remove(object) : store(object)))
  for (const object of api.list(resource)) store(object)

  const informer: Informer = {
    get: (namespace, name) => objects.get(cacheKey(namespace, name)),
    inNamespace: (namespace) => valuesOf(byNamespace, namespace),
    controlledBy: (uid) => valuesOf(byController, uid),
    orphansIn: (namespace) => valuesOf(byController, `orphans/${namespace}`),
    observe: store,
    onChange: (listener) => {
      listeners.push(listener)
      for (const object of objects.values()) listener({ object, previous: undefined, isDeleted: false })
    },
  }
  return { informer, close }
}

function controllerIndexKey(object: KubeObject): string {
  return controllerOf(object)?.uid ?? `orphans/${object.metadata.namespace ?? ''}`
}

/** Versions of this server are counters, so its own controllers may order them. */
function revisionOf(object: KubeObject): number {
  return Number(object.metadata.resourceVersion ?? 0)
}

/** A copy: writes while it is gone through change the index. */
function valuesOf(index: Index, group: string): KubeObject[] {
  return [...(index.get(group)?.values() ?? [])]
}

function put(index: Index, group: string, key: string, object: KubeObject): void {
  const members = index.get(group)
  if (members === undefined) index.set(group, new Map([[key, object]]))
  else members.set(key, object)
}

function drop(index: Index, group: string, key: string): void {
  const members = index.get(group)
  members?.delete(key)
  if (members?.size === 0) index.delete(group)
}
