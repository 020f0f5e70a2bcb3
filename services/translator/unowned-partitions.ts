import { type Bus, openLeases } from '#libs/bus'

/** Roles that share partitions; the host is watched by one for all. */
const SHARED = ['watcher', 'translator', 'writer'] as const
const HOST = 'watcher-host'

/**
 * Of how many partitions nobody does a role's work just now, by role.
 * @throws BusError
 */
export async function unownedPartitions(
  bus: Bus,
  { partitions, replicas, signal }: { partitions: number; replicas: number; signal: AbortSignal },
): Promise<Record<string, number>> {
  const leases = await openLeases(bus, { owner: 'reader', replicas })
  for await (const holders of leases.watchHolders({ signal })) {
    const unowned = (role: string, count: number): number =>
      Array.from({ length: count }, (_, partition) => partition).filter((each) => !holders.has(`${role}.${each}`))
        .length
    return Object.fromEntries([...SHARED.map((role) => [role, unowned(role, partitions)]), [HOST, unowned(HOST, 1)]])
  }
  return {}
}
