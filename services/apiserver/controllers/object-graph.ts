import { resourceToken } from '#libs/kube-model'
import type { KubeObject, OwnerReference } from '#libs/kube-model'
import type { ClusterApi } from '../cluster-api.ts'
import type { ControllerResource, ServedResources } from './controller-context.ts'

/** An object of any kind, reduced to what binds it to others. */
export type GraphNode = {
  uid: string
  resource: string
  namespace: string
  name: string
  owners: readonly OwnerReference[]
  isDeleting: boolean
  finalizers: readonly string[]
}

type GraphChange = { node: GraphNode; previous: GraphNode | undefined; isDeleted: boolean }

/** All objects of a cluster by uid, by owner and by namespace. */
export type ObjectGraph = {
  get(uid: string): GraphNode | undefined
  /** Objects that name this uid as an owner. */
  dependentsOf(uid: string): Iterable<GraphNode>
  /** Number of objects in a namespace. */
  countIn(namespace: string): number
  nodesIn(namespace: string): Iterable<GraphNode>
  /** The resources it follows that live in namespaces. */
  namespacedResources(): readonly ControllerResource[]
  /** The token by which a kind is served; undefined when it is not. */
  resourceOf(reference: Pick<OwnerReference, 'apiVersion' | 'kind'>): ControllerResource | undefined
  /** Calls back for every object that is there now and for every change. */
  onChange(listener: (change: GraphChange) => void): void
  close(): void
}

/** Follows every resource that can be watched and deleted. */
export function createObjectGraph(api: ClusterApi, resources: ServedResources): ObjectGraph {
  const followed = new Map<string, { resource: ControllerResource; close: () => void }>()
  const nodes = new Map<string, GraphNode & { revision: number }>()
  const byOwner = new Map<string, Map<string, GraphNode>>()
  const byNamespace = new Map<string, Map<string, GraphNode>>()
  const listeners: ((change: GraphChange) => void)[] = []

  function store(resource: string, object: KubeObject): void {
    const node = toNode(resource, object)
    const previous = nodes.get(node.uid)
    if (previous !== undefined && node.revision <= previous.revision) return
    if (previous !== undefined) unindex(previous)
    nodes.set(node.uid, node)
    for (const { uid } of node.owners) put(byOwner, uid, node)
    put(byNamespace, node.namespace, node)
    notify({ node, previous, isDeleted: false })
  }

  function remove(object: KubeObject): void {
    forget(object.metadata.uid ?? '')
  }

  function forget(uid: string): void {
    const node = nodes.get(uid)
    if (node === undefined) return
    unindex(node)
    nodes.delete(node.uid)
    notify({ node, previous: node, isDeleted: true })
  }

  function unindex(node: GraphNode): void {
    for (const { uid } of node.owners) drop(byOwner, uid, node)
    drop(byNamespace, node.namespace, node)
  }

  function notify(change: GraphChange): void {
    for (const listener of listeners) listener(change)
  }

  function follow(resource: ControllerResource): void {
    const token = resourceToken(resource)
    if (followed.has(token)) return
    const close = api.subscribe(token, ({ type, object }) => {
      if (type === 'DELETED') remove(object)
      else store(token, object)
    })
    followed.set(token, { resource, close })
    for (const object of api.list(token)) store(token, object)
  }

  /** Kinds come and go with their definitions. */
  function followServed(): void {
    const served = resources.all().filter(({ verbs }) => verbs.includes('watch') && verbs.includes('delete'))
    const tokens = new Set(served.map((resource) => resourceToken(resource)))
    for (const [token, { close }] of followed) {
      if (tokens.has(token)) continue
      close()
      followed.delete(token)
      // Its last events may be on their way, and nobody hears them any more.
      for (const node of nodes.values()) if (node.resource === token) forget(node.uid)
    }
    for (const resource of served) follow(resource)
  }

  followServed()
  const stopFollowing = resources.onChange(followServed)

  return {
    get: (uid) => nodes.get(uid),
    dependentsOf: (uid) => byOwner.get(uid)?.values() ?? [],
    countIn: (namespace) => byNamespace.get(namespace)?.size ?? 0,
    nodesIn: (namespace) => byNamespace.get(namespace)?.values() ?? [],
    namespacedResources: () =>
      [...followed.values()].flatMap(({ resource }) => (resource.namespaced ? [resource] : [])),
    resourceOf: ({ apiVersion, kind }) => {
      const slash = apiVersion.indexOf('/')
      const group = slash === -1 ? '' : apiVersion.slice(0, slash)
      for (const { resource } of followed.values()) {
        if (resource.kind === kind && resource.group === group) return resource
      }
      return undefined
    },
    onChange: (listener) => {
      listeners.push(listener)
      for (const node of nodes.values()) listener({ node, previous: undefined, isDeleted: false })
    },
    close: () => {
      stopFollowing()
      for (const { close } of followed.values()) close()
    },
  }
}

function toNode(resource: string, { metadata }: KubeObject): GraphNode & { revision: number } {
  return {
    uid: metadata.uid ?? '',
    resource,
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    owners: metadata.ownerReferences ?? [],
    isDeleting: metadata.deletionTimestamp !== undefined,
    finalizers: metadata.finalizers ?? [],
    revision: Number(metadata.resourceVersion ?? 0),
  }
}

function put(index: Map<string, Map<string, GraphNode>>, group: string, node: GraphNode): void {
  const members = index.get(group)
  if (members === undefined) index.set(group, new Map([[node.uid, node]]))
  else members.set(node.uid, node)
}

function drop(index: Map<string, Map<string, GraphNode>>, group: string, node: GraphNode): void {
  const members = index.get(group)
  members?.delete(node.uid)
  if (members?.size === 0) index.delete(group)
}
