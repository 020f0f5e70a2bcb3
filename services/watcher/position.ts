import type { Known } from './known-objects.ts'

/** Where a watch goes on, as stored. */
export type WatchPosition = {
  resourceVersion: string
  /** Of the last list. */
  epoch: number
  /** Identity of the cluster that the version belongs to. */
  cluster: string
  /** Tells a tenant from an earlier one of its name. */
  owner: string
  /** When the stream of changes was created: another stream holds nothing of what this position says is safe. */
  log: string
  /** Milliseconds since the epoch. */
  storedAt: number
  /** Objects that must be read by name from time to time, see `KindWatch`. */
  recheck: Known[]
}

/** Half of the time for which the log remembers message ids. */
const IDS_SURELY_REMEMBERED_MS = 60_000

/** What a stored position is worth to the watch that finds it. */
export function resumeFrom(
  stored: WatchPosition | undefined,
  now: { cluster: string; owner: string; log: string; time: number },
): {
  resourceVersion: string | undefined
  epoch: number
  recheck: Known[]
  isNewOwner: boolean
  idsRemembered: boolean
} {
  const isSame = stored?.cluster === now.cluster && stored.owner === now.owner && stored.log === now.log
  return {
    resourceVersion: isSame ? stored.resourceVersion : undefined,
    epoch: stored?.epoch ?? 0,
    recheck: isSame ? stored.recheck : [],
    isNewOwner: stored !== undefined && stored.owner !== now.owner,
    idsRemembered: stored === undefined || now.time - stored.storedAt < IDS_SURELY_REMEMBERED_MS,
  }
}
