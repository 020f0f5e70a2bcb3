import type { ClusterApi } from '../cluster-api.ts'
import { ApiError } from '../api-error.ts'
import type { Cluster } from '../registry/cluster.ts'
import { timestamp } from '../registry/cluster.ts'
import { customResources } from './custom-resources.ts'
import { CLEANUP_FINALIZER, DEFINITIONS, hasCondition, withCondition } from './definition.ts'
import type { Definition, DefinitionCondition } from './definition.ts'
import { nameConflict } from './name-conflict.ts'

/**
 * Keeps the cluster's catalog true to its CustomResourceDefinitions, accepts their names, and empties those that are
 * being deleted. Definitions of an earlier run are served when the call returns. @returns stops it
 */
export function startDefinitionController(cluster: Cluster, api: ClusterApi): () => void {
  const { catalog, store } = cluster
  const serve = (definition: Definition): void =>
    catalog.setCustom(definition.metadata.name ?? '', customResources(definition))
  const stops: (() => void)[] = []
  const watched = new Map<string, () => void>()

  // Within the write, so that whoever sees the condition finds the resource.
  stops.push(
    store.subscribe(DEFINITIONS, ({ type, current }) => {
      if (type === 'DELETED') catalog.setCustom(current.name, undefined)
      else serve(current.object as Definition)
    }),
    api.subscribe(DEFINITIONS, ({ type, object }) => {
      const name = object.metadata.name ?? ''
      if (type === 'DELETED') {
        watched.get(name)?.()
        watched.delete(name)
        reconsiderOthers(name)
      } else reconcile(name)
    }),
  )
  for (const { object } of store.list(DEFINITIONS)) serve(object as Definition)
  for (const { name } of store.list(DEFINITIONS)) reconcile(name)

  function reconcile(name: string): void {
    try {
      const definition = api.get(DEFINITIONS, undefined, name) as Definition | undefined
      if (definition === undefined) return
      if (definition.metadata.deletionTimestamp === undefined) acceptNames(definition)
      else empty(definition)
    } catch (error) {
      // Changed meanwhile: the event of that change brings it here again.
      if (!(error instanceof ApiError && (error.code === 404 || error.code === 409))) throw error
    }
  }

  function acceptNames(definition: Definition): void {
    const others = store.list(DEFINITIONS).map(({ object }) => object as Definition)
    const conflict = nameConflict(definition, others)
    const { conditions, acceptedNames } = definition.status ?? {}
    const isEstablished = hasCondition(definition, 'Established')
    const accepted: DefinitionCondition = conflict
      ? { type: 'NamesAccepted', status: 'False', ...conflict }
      : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
    const established: DefinitionCondition =
      conflict !== undefined && !isEstablished
        ? { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }
        : {
            type: 'Established',
            status: 'True',
            reason: 'InitialNamesAccepted',
            message: 'the initial names have been accepted',
          }
    const now = timestamp(cluster)
    const next = withCondition(withCondition(conditions, accepted, now), established, now)
    const names = conflict === undefined ? { ...definition.spec.names } : acceptedNames
    const status = { ...definition.status, conditions: next, ...(names === undefined ? {} : { acceptedNames: names }) }
    api.update(DEFINITIONS, { ...definition, status }, { subresource: 'status' })
  }

  function reconsiderOthers(gone: string): void {
    for (const { name } of store.list(DEFINITIONS)) if (name !== gone) reconcile(name)
  }

  /** Deletes the objects; lets the definition go when none is left. */
  function empty(definition: Definition): void {
    const name = definition.metadata.name ?? ''
    if (!(definition.metadata.finalizers ?? []).includes(CLEANUP_FINALIZER)) return
    // Objects may wait for finalizers of their own: each that goes is a reason to look again.
    if (!watched.has(name)) {
      watched.set(
        name,
        api.subscribe(name, ({ type }) => {
          if (type === 'DELETED') reconcile(name)
        }),
      )
    }
    for (const { namespace, name: instance, object } of store.list(name)) {
      if (object.metadata.deletionTimestamp === undefined && catalog.byToken(name) !== undefined) {
        api.delete(name, namespace, instance)
      }
    }
    if (store.list(name).length > 0) return
    const finalizers = (definition.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER)
    api.update(DEFINITIONS, { ...definition, metadata: { ...definition.metadata, finalizers } })
  }

  return () => {
    for (const stop of [...stops, ...watched.values()]) stop()
  }
}
