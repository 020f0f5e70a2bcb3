import type { Json, KubeObject } from '#libs/kube-model'
import { asObject } from './json.ts'

/**
 * The generation of the tenant's object that a status of the copy speaks of: each API counts its own. `undefined` where
 * the copy says none, or the tenant's API counts none.
 */
export function observedGeneration(
  observed: unknown,
  { virtual, host }: { virtual: KubeObject; host: KubeObject },
): number | undefined {
  const generation = virtual.metadata.generation
  if (typeof observed !== 'number' || generation === undefined) return undefined
  return observed >= (host.metadata.generation ?? 0) ? generation : Math.max(generation - 1, 0)
}

/** A status of the copy with every `observedGeneration` in it as {@link observedGeneration} has it. */
export function withGenerations(value: Json, pair: { virtual: KubeObject; host: KubeObject }): Json {
  if (Array.isArray(value)) return value.map((item) => withGenerations(item, pair))
  const object = asObject(value)
  if (object === undefined) return value
  return Object.fromEntries(
    Object.entries(object).flatMap(([field, inner]) => {
      if (field !== 'observedGeneration') return [[field, withGenerations(inner, pair)]]
      const generation = observedGeneration(inner, pair)
      return generation === undefined ? [] : [[field, generation]]
    }),
  )
}
