import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asObject, objectsIn, textOf } from '../../json.ts'
import { plainTag } from '../../three-way.ts'
import { specOf } from './fields.ts'

/** Lists of containers whose resources may change while the pod runs. */
export const RESIZABLE = ['containers', 'initContainers'] as const

/** The tenant's resources as they crossed, by container: what a base holds of them. */
export function resourcesBase(virtual: KubeObject): JsonObject {
  const tags = containersWithResources(virtual).map(({ name, resources }) => [textOf(name), resourcesTag(resources)])
  return Object.fromEntries(tags) as JsonObject
}

function containersWithResources(virtual: KubeObject): JsonObject[] {
  const containers = RESIZABLE.flatMap((list) => objectsIn(specOf(virtual)[list]))
  return containers.filter(({ resources }) => Object.keys(asObject(resources) ?? {}).length > 0)
}

/** Resources as a base keeps them. */
export function resourcesTag(resources: unknown): string {
  return plainTag(JSON.stringify(resources))
}
