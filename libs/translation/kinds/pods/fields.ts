import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asObject, objectsIn } from '../../json.ts'

/** The lists of a pod's spec that hold containers. */
export const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const

/** The spec of a pod; empty where there is none. */
export function specOf(pod: KubeObject | undefined): JsonObject {
  return asObject(pod?.spec) ?? {}
}

/** The status of a pod; empty where there is none. */
export function statusOf(pod: KubeObject | undefined): JsonObject {
  return asObject(pod?.status) ?? {}
}

/** All containers of a pod's spec, of whichever list. The originals, not copies. */
export function containersOf(spec: JsonObject): JsonObject[] {
  return CONTAINER_LISTS.flatMap((list) => objectsIn(spec[list]))
}

/** Sources of projected volumes, each with the list it stands in. */
export function projectedSources(spec: JsonObject): JsonObject[] {
  return objectsIn(spec.volumes).flatMap((volume) => objectsIn(asObject(volume.projected)?.sources))
}
