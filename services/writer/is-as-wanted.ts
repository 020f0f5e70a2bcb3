import type { KubeObject } from '#libs/kube-model'
import { ANNOTATIONS } from '#libs/translation'

/**
 * Whether a live object can be taken for what a create wanted to make: it bears the mark of the same decision, or all
 * that the body says. Another state under the name was made by an earlier decision, and both sides do not agree on it.
 */
export function isAsWanted(live: KubeObject, body: KubeObject): boolean {
  const mark = body.metadata.annotations?.[ANNOTATIONS.trace]
  if (mark !== undefined && live.metadata.annotations?.[ANNOTATIONS.trace] === mark) return true
  const { [ANNOTATIONS.trace]: _trace, ...annotations } = body.metadata.annotations ?? {}
  return holds(live, { ...body, metadata: { ...body.metadata, annotations } })
}

/** Whether a value has everything of another; what an API server adds of its own does not matter. */
function holds(live: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(live) && live.length === wanted.length && wanted.every((item, index) => holds(live[index], item))
    )
  }
  if (typeof wanted !== 'object' || wanted === null) return live === wanted
  if (typeof live !== 'object' || live === null) return Object.keys(wanted).length === 0
  return Object.entries(wanted).every(([key, value]) => holds((live as Record<string, unknown>)[key], value))
}
