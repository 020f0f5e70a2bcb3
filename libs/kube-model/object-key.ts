/** The side of the bridge an object lives on: the tenant's API is `virtual`. */
export type Side = 'virtual' | 'host'

/** An object on one side: design word "object key". */
export type ObjectKey = {
  tenant: string
  side: Side
  /** Resource token, see `resourceToken`. */
  resource: string
  /** Empty for cluster-scoped objects. */
  namespace: string
  name: string
}

/** An object of a side that the context names. */
export type ObjectRef = Pick<ObjectKey, 'resource' | 'namespace' | 'name'>

/** A string that is equal exactly for equal keys. Names cannot contain `/`. */
export function keyString(key: ObjectKey): string {
  return `${key.tenant}/${key.side}/${key.resource}/${key.namespace}/${key.name}`
}

/** `namespace/name`, or the name alone for cluster-scoped objects: for people, not for maps. */
export function displayName(ref: Pick<ObjectRef, 'namespace' | 'name'>): string {
  return ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`
}
