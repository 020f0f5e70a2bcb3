import { type Bus, openLeases, openPositions } from '#libs/bus'
import { STREAMS, partitionFilters } from '#libs/events'
import type { ServiceFact } from './facts.ts'
import { lagOf } from './lag-of.ts'

/** Who works on a partition, and how far behind they are. @throws BusError */
export async function serviceFacts(bus: Bus, of: { partition: number; replicas: number }): Promise<ServiceFact[]> {
  const { partition, replicas } = of
  const [owners, translated, written] = await Promise.all([
    holdersOf(bus, replicas),
    openPositions<number>(bus, { replicas }).then((kv) => kv.get(`translator.${STREAMS.changes}.${partition}`)),
    openPositions<{ seq: number }>(bus, { replicas }).then((kv) => kv.get(`writer.${partition}`)),
  ])
  const [changes, intents] = await Promise.all([
    lagOf(bus, {
      stream: STREAMS.changes,
      filterSubjects: partitionFilters('change', partition),
      position: translated?.value ?? 0,
    }),
    lagOf(bus, {
      stream: STREAMS.intents,
      filterSubjects: partitionFilters('intent', partition),
      position: written?.value.seq ?? 0,
    }),
  ])
  const owned = (key: string): { owner?: string } => {
    const owner = owners.get(key)
    return owner === undefined ? {} : { owner }
  }
  return [
    { role: 'watcher', ...owned(`watcher.${partition}`), behind: 0 },
    { role: 'watcher-host', ...owned('watcher-host.0'), behind: 0 },
    { role: 'translator', ...owned(`translator.${partition}`), ...changes },
    { role: 'writer', ...owned(`writer.${partition}`), ...intents },
  ]
}

/** Who holds what at this moment, by the key of the lease. @throws BusError */
async function holdersOf(bus: Bus, replicas: number): Promise<ReadonlyMap<string, string>> {
  const leases = await openLeases(bus, { owner: 'reader', replicas })
  for await (const holders of leases.watchHolders()) {
    return new Map([...holders].map(([key, { owner }]) => [key, owner]))
  }
  return new Map()
}
