import type { KubeObject } from '#libs/kube-model'
import type { ApiResource } from '../discovery/resources.ts'
import { resourceByToken } from '../discovery/resources.ts'

/** Resources that are another view of stored ones: served token to stored token. */
const STORED_AS: Readonly<Record<string, string>> = { 'events.events.k8s.io': 'events' }

/** Fields that two views of events name differently: core/v1 to events.k8s.io/v1. */
const EVENT_FIELDS: readonly (readonly [core: string, named: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
]

/**
 * The resource whose objects are stored when this one is written. Custom ones are stored as they were written: their
 * versions differ in nothing but the name.
 */
export function storageResource(resource: ApiResource): ApiResource {
  if (resource.custom !== undefined) return resource
  return resourceByToken(STORED_AS[resource.token] ?? resource.token) ?? resource
}

/** A stored object as this resource serves it; the same object when nothing differs. */
export function toServed(resource: ApiResource, object: KubeObject): KubeObject {
  return convert(resource, object, { from: 0, to: 1 })
}

/** An object that a client sent as it is stored; the same object when nothing differs. */
export function toStorage(resource: ApiResource, object: KubeObject): KubeObject {
  return convert(storageResource(resource), object, { from: 1, to: 0 })
}

function convert(resource: ApiResource, object: KubeObject, side: { from: 0 | 1; to: 0 | 1 }): KubeObject {
  if (object.apiVersion === resource.apiVersion && object.kind === resource.kind) return object
  if (object.kind !== 'Event' || resource.custom !== undefined)
    return { ...object, apiVersion: resource.apiVersion, kind: resource.kind }
  const names = new Map(EVENT_FIELDS.map((pair) => [pair[side.from], pair[side.to]]))
  // The view of the named group leaves out what the core group shows empty.
  const shown = Object.entries(object).filter(([, value]) => side.to === 0 || value !== '')
  const converted = shown.map(([field, value]) => [names.get(field) ?? field, value])
  return { ...Object.fromEntries(converted), kind: resource.kind, apiVersion: resource.apiVersion } as KubeObject
}
