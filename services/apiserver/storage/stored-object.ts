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

/** A version whose parsed form can be let go of; it is then parsed anew when somebody asks. */
export class StoredVersion implements StoredObject {
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly revision: number
  readonly json: string
  #object: KubeObject | undefined
  #isCurrent = true

  constructor(version: Omit<StoredObject, 'object'> & { object?: KubeObject }) {
    this.resource = version.resource
    this.namespace = version.namespace
    this.name = version.name
    this.revision = version.revision
    this.json = version.json
    this.#object = version.object
  }

  get object(): KubeObject {
    if (this.#object !== undefined) return this.#object
    const object = JSON.parse(this.json) as KubeObject
    if (this.#isCurrent) this.#object = object
    return object
  }

  /** Called when a newer version is there: the log keeps many versions, of which few are looked at again. */
  release(): void {
    this.#isCurrent = false
    this.#object = undefined
  }
}

/** A change as the log keeps it. */
export type StoredEvent = {
  readonly type: WatchEventType
  readonly revision: number
  /** The new version; for DELETED the last one, with the revision of the deletion. */
  readonly current: StoredVersion
  /** The version before; absent for ADDED. */
  readonly previous: StoredVersion | undefined
}

/**
 * A shallow copy with the fields in the order clients see: `kind`, `apiVersion`, `metadata`, the rest. The fixed start
 * lets a list drop kind and apiVersion from its items without parsing them, see `itemJson`.
 */
export function canonicalOrder(object: KubeObject): KubeObject {
  const { kind, apiVersion, metadata, ...rest } = object
  return { kind: kind ?? '', apiVersion: apiVersion ?? '', metadata, ...rest }
}

const TYPE_FIELDS = /^\{"kind":"[^"]*","apiVersion":"[^"]*",/

/** The JSON of an object without `kind` and `apiVersion`, as items of a list have it. */
export function itemJson(stored: StoredObject): string {
  return stored.json.replace(TYPE_FIELDS, '{')
}
