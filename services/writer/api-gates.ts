import type { Clock } from '#libs/kernel'
import type { Side } from '#libs/kube-model'
import { ApiGate } from './api-gate.ts'
import { Availability } from './availability.ts'

export type ApiGatesOptions = {
  clock: Clock
  /** Ends waiting. */
  signal: AbortSignal
  /** Share of a server that a tenant has relative to others. @default 1 */
  weight?: (tenant: string) => number
}

/** Where a write goes. */
export type Destination = {
  side: Side
  tenant: string
  /** Scheme, host and port of the server; undefined while that is not known. */
  origin: string | undefined
}

/**
 * The gates of a process, one for each API server in use: the host's and those of tenants, or of many of them, where
 * they are behind one address. Whether a cluster can be reached is known of each by itself: what is behind an address
 * fails apart.
 */
export class ApiGates {
  readonly #gates = new Map<string, ApiGate>()
  readonly #availabilities = new Map<string, Availability>()
  readonly #options: ApiGatesOptions

  constructor(options: ApiGatesOptions) {
    this.#options = options
  }

  /** What a write passes, and whether its cluster can be reached. */
  of(to: Destination): { gate: ApiGate; availability: Availability } {
    const cluster = clusterOf(to)
    return { gate: this.#gate(to.origin ?? cluster), availability: this.#availability(cluster) }
  }

  /** What is known of the servers that a side's writes go to. */
  load(side: Side): { queued: { urgent: number; bulk: number }; inFlight: number; limit: number; down: number } {
    const gates = [...this.#gates.values()].filter((gate) => gate.sides.has(side))
    const sum = (of: (gate: ApiGate) => number): number => gates.reduce((total, gate) => total + of(gate), 0)
    const down = [...this.#availabilities].filter(
      ([cluster, availability]) => (cluster === HOST) === (side === 'host') && availability.isDown,
    )
    return {
      queued: { urgent: sum((gate) => gate.load(side).urgent), bulk: sum((gate) => gate.load(side).bulk) },
      inFlight: sum((gate) => gate.load(side).inFlight),
      limit: gates.length === 0 ? 0 : Math.min(...gates.map((gate) => gate.limit)),
      down: down.length,
    }
  }

  #availability(cluster: string): Availability {
    const existing = this.#availabilities.get(cluster)
    if (existing !== undefined) return existing
    // That a cluster is up is learned again by the next write.
    if (this.#availabilities.size >= MANY)
      for (const [name, { isDown }] of this.#availabilities) if (!isDown) this.#availabilities.delete(name)
    const availability = new Availability()
    this.#availabilities.set(cluster, availability)
    return availability
  }

  #gate(server: string): ApiGate {
    const existing = this.#gates.get(server)
    if (existing !== undefined) return existing
    const gate: ApiGate = new ApiGate({
      ...this.#options,
      // The host's may have no address yet, but is everybody's.
      shared: server === HOST,
      onIdle: () => {
        // A tenant at rest costs nothing. What is known of a server that many share would be missed.
        if (!gate.isShared && gate.isForgettable) this.#gates.delete(server)
      },
    })
    this.#gates.set(server, gate)
    return gate
  }
}

const HOST = 'host'
/** Clusters that are remembered although they are up. */
const MANY = 2_000

function clusterOf({ side, tenant }: Pick<Destination, 'side' | 'tenant'>): string {
  return side === 'host' ? HOST : `tenant/${tenant}`
}
