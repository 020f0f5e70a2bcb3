import { resourceToken } from '#libs/kube-model'
import type { KubeObject, OwnerReference } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import type { DeleteOptions } from '../cluster-api.ts'
import type { Controller, ControllerContext } from './controller-context.ts'
import { deleteObject } from './delete-object.ts'
import type { GraphNode, ObjectGraph } from './object-graph.ts'
import { withoutOwners } from './owner-references.ts'
import { createWorkQueue } from './work-queue.ts'

/** Set by a foreground deletion: the object waits until its dependents are gone. */
export const FOREGROUND = 'foregroundDeletion'
/** Set by an orphaning deletion: the object waits until its dependents have lost their reference to it. */
export const ORPHAN = 'orphan'

/** How the owners of an object stand. */
export type OwnerStates = {
  /** They exist. */
  solid: OwnerReference[]
  /** They are gone. */
  dangling: OwnerReference[]
  /** They are being deleted and wait for this object to go first. */
  waiting: OwnerReference[]
}

export type OwnerDecision =
  | { kind: 'keep' }
  | { kind: 'drop-references'; uids: string[] }
  | { kind: 'delete'; policy: DeletePolicy }
type DeletePolicy = NonNullable<DeleteOptions['propagationPolicy']>

/**
 * What becomes of an object with owners: it stays as long as one exists; else it is deleted, in the foreground when an
 * owner waits for it and it has dependents of its own.
 */
export function decideByOwners(
  states: OwnerStates,
  object: { finalizers: readonly string[]; hasDependents: boolean },
): OwnerDecision {
  const gone = [...states.dangling, ...states.waiting]
  if (states.solid.length > 0) {
    return gone.length === 0 ? { kind: 'keep' } : { kind: 'drop-references', uids: gone.map(({ uid }) => uid) }
  }
  if (gone.length === 0) return { kind: 'keep' }
  if (states.waiting.length > 0 && object.hasDependents) return { kind: 'delete', policy: 'Foreground' }
  if (object.finalizers.includes(ORPHAN)) return { kind: 'delete', policy: 'Orphan' }
  if (object.finalizers.includes(FOREGROUND)) return { kind: 'delete', policy: 'Foreground' }
  return { kind: 'delete', policy: 'Background' }
}

/** Deletes what owners leave behind, and finishes foreground and orphaning deletions. */
export function startGarbageCollector(context: ControllerContext, graph: ObjectGraph): Controller {
  const { api } = context
  const queue = createWorkQueue({ name: 'garbage-collector', reconcile, ...context })

  graph.onChange(({ node, previous, isDeleted }) => {
    if (isDeleted) {
      for (const dependent of graph.dependentsOf(node.uid)) queue.add(dependent.uid)
      for (const owner of node.owners) if (isWaiting(graph.get(owner.uid))) queue.add(owner.uid)
      return
    }
    // An owner's wait may end as well when a dependent drops its reference.
    for (const owner of previous?.owners ?? []) if (isWaiting(graph.get(owner.uid))) queue.add(owner.uid)
    if (node.isDeleting ? isFinalizing(node) : node.owners.length > 0) queue.add(node.uid)
  })

  function reconcile(uid: string): void {
    const node = graph.get(uid)
    if (node === undefined) return
    const object = read(node)
    if (object === undefined) return
    if (object.metadata.deletionTimestamp === undefined) collect(node, object)
    else if (object.metadata.finalizers?.includes(FOREGROUND)) finishForeground(node, object)
    else if (object.metadata.finalizers?.includes(ORPHAN)) finishOrphaning(node, object)
  }

  function collect(node: GraphNode, object: KubeObject): void {
    const states = ownerStates(object)
    const hasDependents = !isDone(graph.dependentsOf(node.uid))
    const decision = decideByOwners(states, { finalizers: object.metadata.finalizers ?? [], hasDependents })
    switch (decision.kind) {
      case 'keep':
        return
      case 'drop-references':
        api.update(node.resource, withoutOwners(object, new Set(decision.uids)))
        return
      case 'delete':
        deleteObject(api, node.resource, object, {
          // Owners might have been changed since: then the object is looked at again, by the event of the change.
          ...(object.metadata.resourceVersion ? { resourceVersion: object.metadata.resourceVersion } : {}),
          propagationPolicy: decision.policy,
        })
        context.log.debug({ key: `${node.namespace}/${node.name}`, resource: node.resource }, 'collected garbage')
    }
  }

  function ownerStates(object: KubeObject): OwnerStates {
    const states: OwnerStates = { solid: [], dangling: [], waiting: [] }
    for (const reference of object.metadata.ownerReferences ?? []) {
      states[ownerState(object, reference)].push(reference)
    }
    return states
  }

  function ownerState(object: KubeObject, reference: OwnerReference): keyof OwnerStates {
    const resource = graph.resourceOf(reference)
    // A kind that is not served cannot be looked up: no proof that the owner is gone.
    if (resource === undefined) return 'solid'
    const namespace = resource.namespaced ? object.metadata.namespace : undefined
    const owner = api.get(resourceToken(resource), namespace, reference.name)
    if (owner === undefined || owner.metadata.uid !== reference.uid) return 'dangling'
    const isForeground = owner.metadata.finalizers?.includes(FOREGROUND) ?? false
    return owner.metadata.deletionTimestamp !== undefined && isForeground ? 'waiting' : 'solid'
  }

  function finishForeground(node: GraphNode, object: KubeObject): void {
    let isBlocked = false
    for (const dependent of graph.dependentsOf(node.uid)) {
      if (!dependent.isDeleting) queue.add(dependent.uid)
      if (dependent.owners.some(({ uid, blockOwnerDeletion }) => uid === node.uid && blockOwnerDeletion === true)) {
        isBlocked = true
      }
    }
    if (!isBlocked) dropFinalizer(node, object, FOREGROUND)
  }

  function finishOrphaning(node: GraphNode, object: KubeObject): void {
    for (const dependent of graph.dependentsOf(node.uid)) {
      const current = read(dependent)
      if (current !== undefined) api.update(dependent.resource, withoutOwners(current, new Set([node.uid])))
    }
    dropFinalizer(node, object, ORPHAN)
  }

  function dropFinalizer(node: GraphNode, object: KubeObject, finalizer: string): void {
    const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer)
    ignoreNotFound(() => api.update(node.resource, { ...object, metadata: { ...object.metadata, finalizers } }))
  }

  function read(node: GraphNode): KubeObject | undefined {
    const object = api.get(node.resource, node.namespace || undefined, node.name)
    return object?.metadata.uid === node.uid ? object : undefined
  }

  return { close: () => queue.close() }
}

function isFinalizing(node: GraphNode): boolean {
  return node.finalizers.includes(FOREGROUND) || node.finalizers.includes(ORPHAN)
}

function isWaiting(node: GraphNode | undefined): boolean {
  return node !== undefined && node.isDeleting && node.finalizers.includes(FOREGROUND)
}

function isDone(items: Iterable<unknown>): boolean {
  for (const _ of items) return false
  return true
}

function ignoreNotFound(call: () => void): void {
  try {
    call()
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 404)) throw error
  }
}
