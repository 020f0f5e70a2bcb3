import type { LoggedIntent } from '#libs/events'
import type { KubeObject } from '#libs/kube-model'
import { ANNOTATIONS, LABELS, OWN_PREFIX, virtualRefOf } from '#libs/translation'

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
    live.metadata.labels?.[LABELS.tenant] !== undefined &&
    stamps[ANNOTATIONS.resource] === target.resource &&
    // A copy that somebody made of our copy carries our stamps, but has another name.
    stamps[ANNOTATIONS.hostName] === `${target.namespace}/${target.name}`
  if (!isStamped) return 'foreign'
  const isSameTuple =
    live.metadata.labels?.[LABELS.tenant] === target.tenant &&
    stamps[ANNOTATIONS.name] === wanted[ANNOTATIONS.name] &&
    stamps[ANNOTATIONS.namespace] === wanted[ANNOTATIONS.namespace]
  // Stamps that name an object whose copy would have another name have been changed by somebody.
  if (!isSameTuple) return virtualRefOf(live) === undefined ? 'foreign' : 'other-tuple'
  return stamps[ANNOTATIONS.uid] === wanted[ANNOTATIONS.uid] ? 'same' : 'earlier'
}

/** Compares a live object of the tenant with one of ours to be created there: ours carry all our marks of the body. */
export function virtualOwnership(live: KubeObject, body: KubeObject): Ownership {
  const marks = (['labels', 'annotations'] as const).flatMap((field) =>
    Object.entries(body.metadata[field] ?? {})
      .filter(([key]) => key.startsWith(OWN_PREFIX) && key !== ANNOTATIONS.trace)
      .map(([key, value]) => live.metadata[field]?.[key] === value),
  )
  return marks.length > 0 && marks.every(Boolean) ? 'same' : 'foreign'
}
