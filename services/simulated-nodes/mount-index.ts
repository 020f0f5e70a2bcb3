import { isFinished, podKey } from './pod.ts'
import type { Pod } from './pod.ts'
import { claimsOf } from './volume.ts'

/** Pods that have not ended, by the claims (`namespace/name`) they mount. */
export function createMountIndex(): {
  note(pod: Pod): void
  forget(pod: Pod): void
  podsFor(claimKey: string): string[]
} {
  const index = new Map<string, Set<string>>()
  const keysOf = (pod: Pod): string[] => claimsOf(pod).map((name) => `${pod.metadata.namespace ?? ''}/${name}`)

  function forget(pod: Pod): void {
    for (const key of keysOf(pod)) {
      const pods = index.get(key)
      if (pods?.delete(podKey(pod)) && pods.size === 0) index.delete(key)
    }
  }

  return {
    forget,
    note: (pod) => {
      if (isFinished(pod)) return forget(pod)
      for (const key of keysOf(pod)) index.set(key, (index.get(key) ?? new Set()).add(podKey(pod)))
    },
    podsFor: (claimKey) => [...(index.get(claimKey) ?? [])],
  }
}
