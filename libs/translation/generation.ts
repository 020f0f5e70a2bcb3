import type { KubeObject } from '#libs/kube-model'

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
