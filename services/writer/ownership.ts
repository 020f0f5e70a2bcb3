import type { LoggedIntent } from '#libs/events'
import type { KubeObject } from '#libs/kube-model'

const PREFIX = 'causeway.dev/'
const TENANT = `${PREFIX}tenant`
const NAME = `${PREFIX}name`
const NAMESPACE = `${PREFIX}namespace`
const UID = `${PREFIX}uid`
const RESOURCE = `${PREFIX}resource`
const HOST_NAME = `${PREFIX}host-name`
/** Changes with each change that leads to a write: says nothing about whose object it is. */
const TRACE = `${PREFIX}trace`

/** The label that names the tenant on every host copy. */
export const TENANT_LABEL = TENANT

/** Whose a live object is, seen from an intent to create one of its name. */
export type Ownership =
  /** The copy of this very virtual object. */
  | 'same'
  /** A copy of a virtual object of the same key, but another uid. */
  | 'earlier'
  /** A copy of a virtual object with another key. */
  | 'other-tuple'
  /** Not one of ours. */
  | 'foreign'

/** Compares a live host object with the body that an intent wanted to create there. */
export function hostOwnership(live: KubeObject, intent: Pick<LoggedIntent, 'target'>, body: KubeObject): Ownership {
  const { target } = intent
  const stamps = live.metadata.annotations ?? {}
  const wanted = body.metadata.annotations ?? {}
  const isStamped =
    live.metadata.labels?.[TENANT] !== undefined &&
    stamps[RESOURCE] === target.resource &&
    // A copy that somebody made of our copy carries our stamps, but has another name.
    stamps[HOST_NAME] === `${target.namespace}/${target.name}`
  if (!isStamped) return 'foreign'
  const isSameTuple =
    live.metadata.labels?.[TENANT] === target.tenant &&
    stamps[NAME] === wanted[NAME] &&
    stamps[NAMESPACE] === wanted[NAMESPACE]
  if (!isSameTuple) return 'other-tuple'
  return stamps[UID] === wanted[UID] ? 'same' : 'earlier'
}

/** Compares a live object of the tenant with one of ours to be created there: ours carry all the marks of the body. */
export function virtualOwnership(live: KubeObject, body: KubeObject): Ownership {
  const isMarked = (['labels', 'annotations'] as const).every((field) =>
    Object.entries(body.metadata[field] ?? {})
      .filter(([key]) => key.startsWith(PREFIX) && key !== TRACE)
      .every(([key, value]) => live.metadata[field]?.[key] === value),
  )
  return isMarked ? 'same' : 'foreign'
}
