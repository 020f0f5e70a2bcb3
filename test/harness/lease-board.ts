import { type Bus, openLeases } from '#libs/bus'

/** One change of hands, as everybody sees it. */
export type Handover = {
  partition: string
  /** Absent while nobody holds it. */
  owner?: string
  /** When it was seen, ms since the epoch. */
  at: number
}

/** Follows who holds the partitions of one role. */
export class LeaseBoard {
  readonly history: Handover[] = []
  #holders: ReadonlyMap<string, { owner: string }> = new Map()
  #wake = Promise.withResolvers<void>()
  readonly #stop = new AbortController()

  /**
   * Begins to follow.
   * @param options.role as in the leases' keys, such as `writer`
   * @param options.ttlMs that of the members: it belongs to all leases
   */
  static async open(bus: Bus, options: { role: string; ttlMs: number }): Promise<LeaseBoard> {
    const { role, ttlMs } = options
    const leases = await openLeases(bus, { owner: 'observer', ttlMs })
    const board = new LeaseBoard()
    const { signal } = board.#stop
    const follow = async (): Promise<void> => {
      for await (const holders of leases.watchHolders({ filter: `${role}.*`, signal })) board.#take(holders)
    }
    // The connection may be closed first.
    follow().catch(() => undefined)
    return board
  }

  /** Partitions by who holds them. */
  shares(): Map<string, string[]> {
    const shares = new Map<string, string[]>()
    for (const [partition, { owner }] of this.#holders) shares.set(owner, [...(shares.get(owner) ?? []), partition])
    return shares
  }

  /**
   * Resolves when the shares are accepted.
   * @throws Error with the shares of now, after a minute
   */
  async until(accept: (shares: Map<string, string[]>) => boolean): Promise<void> {
    const late = AbortSignal.timeout(60_000)
    while (!accept(this.shares())) {
      const timeout = new Promise<void>((resolve) => late.addEventListener('abort', () => resolve(), { once: true }))
      await Promise.race([this.#wake.promise, timeout])
      if (late.aborted) throw new Error(`shares not as expected: ${JSON.stringify([...this.shares()])}`)
    }
  }

  /**
   * How long partitions that a member had were nobody's, in ms, each from when its lease ended until another member
   * held one: all that happened after `from`.
   */
  vacancies(member: string, from: number): number[] {
    const ended = new Map<string, number>()
    const spans: number[] = []
    const owners = new Map<string, string | undefined>()
    for (const { partition, owner, at } of this.history) {
      const before = owners.get(partition)
      owners.set(partition, owner)
      if (at < from) continue
      if (owner === undefined && before === member) ended.set(partition, at)
      const since = ended.get(partition)
      if (owner === undefined || since === undefined) continue
      spans.push(at - since)
      ended.delete(partition)
    }
    return spans
  }

  close(): void {
    this.#stop.abort()
  }

  #take(holders: ReadonlyMap<string, { owner: string }>): void {
    const at = Date.now()
    for (const partition of new Set([...this.#holders.keys(), ...holders.keys()])) {
      const owner = holders.get(partition)?.owner
      if (owner !== this.#holders.get(partition)?.owner)
        this.history.push({ partition, at, ...(owner === undefined ? {} : { owner }) })
    }
    this.#holders = holders
    this.#wake.resolve()
    this.#wake = Promise.withResolvers()
  }
}
