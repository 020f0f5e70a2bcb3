import { type Bus, type Leases, openLeases, openPositions } from '#libs/bus'
import { STREAMS, partitionFilters } from '#libs/events'
import { lagOf } from '#libs/explain'
import type { PartitionLag } from '../views.ts'

/** Partitions that are asked about at the same time. */
const AT_ONCE = 4

/** Who works on each partition and how far behind they are, asked for when somebody wants to know. */
export class PartitionLags {
  readonly #bus: Bus
  readonly #options: { partitions: number; replicas: number }
  #owners: ReadonlyMap<string, string> = new Map()

  constructor(bus: Bus, options: { partitions: number; replicas: number }) {
    this.#bus = bus
    this.#options = options
  }

  /** Follows who holds which partition, until the signal. */
  async follow(signal: AbortSignal): Promise<void> {
    const leases: Leases = await openLeases(this.#bus, { owner: 'console', replicas: this.#options.replicas })
    for await (const holders of leases.watchHolders({ signal })) {
      this.#owners = new Map([...holders].map(([key, { owner }]) => [key, owner]))
    }
  }

  /** Who watches the host; `undefined` when nobody does. */
  get watcherHost(): string | undefined {
    return this.#owners.get('watcher-host.0')
  }

  /** @throws BusError */
  async read(): Promise<PartitionLag[]> {
    const { partitions, replicas } = this.#options
    const translated = await openPositions<number>(this.#bus, { replicas })
    const written = await openPositions<{ seq: number }>(this.#bus, { replicas })
    const read = async (partition: number): Promise<PartitionLag> => {
      const [translator, writer] = await Promise.all([
        translated.get(`translator.${STREAMS.changes}.${partition}`).then((position) =>
          lagOf(this.#bus, {
            stream: STREAMS.changes,
            filterSubjects: partitionFilters('change', partition),
            position: position?.value ?? 0,
          }),
        ),
        written.get(`writer.${partition}`).then((position) =>
          lagOf(this.#bus, {
            stream: STREAMS.intents,
            filterSubjects: partitionFilters('intent', partition),
            position: position?.value.seq ?? 0,
          }),
        ),
      ])
      return { partition, owners: this.#ownersOf(partition), translator, writer }
    }
    const lags: PartitionLag[] = []
    for (let first = 0; first < partitions; first += AT_ONCE) {
      const some = Array.from({ length: Math.min(AT_ONCE, partitions - first) }, (_, index) => read(first + index))
      lags.push(...(await Promise.all(some)))
    }
    return lags
  }

  #ownersOf(partition: number): Record<string, string> {
    return Object.fromEntries(
      ['watcher', 'translator', 'writer'].flatMap((role) => {
        const owner = this.#owners.get(`${role}.${partition}`)
        return owner === undefined ? [] : [[role, owner]]
      }),
    )
  }
}
