import type { KubeObject, WatchEventType } from '#libs/kube-model'

/** One version of an object. Never changed once stored: a new version is a new `StoredObject`. */
export type StoredObject = {
  /** Storage table: the resource token of the preferred version. */
  readonly resource: string
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
  readonly revision: number
  readonly object: KubeObject
  /** The object as JSON; begins with `kind` and `apiVersion`, see `canonicalOrder`. */
  readonly json: string
}

/** A change as the log keeps it. */
export type StoredEvent = {
  readonly type: WatchEventType
  readonly revision: number
  /** The new version; for DELETED the last one, with the revision of the deletion. */
  readonly current: StoredObject
  /** The version before; absent for ADDED. */
  readonly previous: StoredObject | undefined
}

/**
 * A shallow copy with the fields in the order clients see: `kind`, `apiVersion`, `metadata`, the rest. The fixed start
 * lets a list drop kind and apiVersion from its items without parsing them, see `itemJson`.
 */
export function canonicalOrder(object: KubeObject): KubeObject {
  const { kind, apiVersion, metadata, ...rest } = object
  return { kind: kind ?? '', apiVersion: apiVersion ?? '', metadata, ...rest }
}

/** The JSON of an object without `kind` and `apiVersion`, as items of a list have it. */
export function itemJson(stored: StoredObject): string {
  return `{${stored.json.slice(typePrefix(stored.object).length)}`
}

function typePrefix(object: KubeObject): string {
  return `{"kind":${JSON.stringify(object.kind)},"apiVersion":${JSON.stringify(object.apiVersion)},`
}
