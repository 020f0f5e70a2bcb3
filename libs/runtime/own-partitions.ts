import type { Bus, Lease, LeaseValue, Leases } from '#libs/bus'
import { openLeases } from '#libs/bus'
import type { PipelineConfig } from '#libs/config'
import { type Clock, backoffDelay, errorMessage } from '#libs/kernel'
import type { Logger } from '#libs/telemetry'
import { fairShares } from './fair-shares.ts'
import { tellTrouble } from './troubles.ts'

export type OwnedPartition = {
  partition: number
  /** Carried by all that is written under this ownership, so that an older owner's writes are refused. */
  fence: number
  lease: Lease
  /** Aborts when the lease is lost, the partition is to go to another member, or the role stops. */
  signal: AbortSignal
}

export type OwnPartitionsOptions = {
  bus: Bus
  config: Pick<PipelineConfig, 'partitions' | 'instance' | 'leaseTtlMs' | 'replicas'>
  /** Leases are `<role>.<partition>`. */
  role: string
  logger: Logger
  clock: Clock
  random: () => number
  /** Does the role's work on one partition until the signal aborts. Called again, later, when it throws. */
  work(this: void, owned: OwnedPartition): Promise<void>
}

/** Partitions that a role holds right now. */
export type PartitionOwner = {
  owned(): number[]
  /** What is this member's to do and not in its hands yet, in words; empty when nothing is. */
  notReady(): string[]
  /** Rejects when ownership can no longer be followed. */
  done: Promise<void>
  /** Stops all work, waits for it, and gives the leases back. */
  close(): Promise<void>
}

const RESTART_BACKOFF = { baseMs: 200, capMs: 10_000 }
/** Work that has gone on for this long was not begun in vain: its next failure counts as the first. */
const HEALTHY_MS = 60_000
/** How long until a lease that could not be asked for is asked for again. */
const RETRY_MS = 1_000

/**
 * Takes this member's share of a role's partitions as they become free, hands back what is another's, and has the work
 * on them done.
 */
export async function ownPartitions(options: OwnPartitionsOptions): Promise<PartitionOwner> {
  const { bus, config } = options
  const leases = await openLeases(bus, { owner: config.instance, ttlMs: config.leaseTtlMs, replicas: config.replicas })
  return new Ownership(options, leases).start()
}

type Held = { stop: AbortController; ended: Promise<void> }

class Ownership {
  readonly #options: OwnPartitionsOptions
  readonly #leases: Leases
  readonly #stop = new AbortController()
  readonly #held = new Map<number, Held>()
  #holders: ReadonlyMap<string, LeaseValue> | undefined
  #members: readonly string[] | undefined
  #shares: readonly string[] = []
  #looking: Promise<void> | undefined
  #isStale = false

  constructor(options: OwnPartitionsOptions, leases: Leases) {
    this.#options = options
    this.#leases = leases
  }

  async start(): Promise<PartitionOwner> {
    const { role } = this.#options
    const membership = await this.#leases.announce(role)
    return {
      owned: () => [...this.#held.keys()],
      notReady: () => this.#notReady(),
      done: this.#follow(),
      close: async () => {
        this.#stop.abort(new Error('stopping'))
        await this.#looking
        await Promise.all([...this.#held.values()].map(({ ended }) => ended))
        await membership.leave().catch((error: unknown) => this.#warn(error, 'membership could not be ended'))
      },
    }
  }

  async #follow(): Promise<void> {
    const { role, config } = this.#options
    const { signal } = this.#stop
    const holders = async (): Promise<void> => {
      for await (const known of this.#leases.watchHolders({ filter: `${role}.*`, signal })) {
        this.#holders = known
        this.#look()
      }
    }
    const members = async (): Promise<void> => {
      for await (const known of this.#leases.watchMembers(role, { signal })) {
        // Should our own entry have gone by age, in a long interruption, we are there all the same.
        this.#members = known.includes(config.instance) ? known : [...known, config.instance].toSorted()
        this.#shares = fairShares(config.partitions, this.#members)
        this.#look()
      }
    }
    await Promise.all([holders(), members()])
  }

  /** Brings what is held to what is to be held, once more if something changes meanwhile. */
  #look(): void {
    this.#isStale = true
    this.#looking ??= this.#lookUntilCurrent().finally(() => {
      this.#looking = undefined
      // Something may have changed after the last look and before this.
      if (this.#isStale && !this.#stop.signal.aborted) this.#look()
    })
  }

  async #lookUntilCurrent(): Promise<void> {
    while (this.#isStale && !this.#stop.signal.aborted) {
      this.#isStale = false
      try {
        await this.#takeAndHandBack()
      } catch (error) {
        this.#warn(error, 'leases could not be asked for; they are again')
        void this.#options.clock.sleep(RETRY_MS, this.#stop.signal).then(
          () => this.#look(),
          () => undefined,
        )
      }
    }
  }

  async #takeAndHandBack(): Promise<void> {
    const { role, config } = this.#options
    if (this.#holders === undefined || this.#members === undefined) return
    for (let partition = 0; partition < config.partitions && !this.#stop.signal.aborted; partition++) {
      const member = this.#shares[partition]
      const held = this.#held.get(partition)
      if (member !== config.instance) held?.stop.abort(new Error(`it is ${member}'s now`))
      else if (held === undefined && !this.#holders.has(`${role}.${partition}`)) {
        const lease = await this.#leases.acquire(`${role}.${partition}`)
        if (lease !== undefined) this.#work(partition, lease)
      }
    }
  }

  #work(partition: number, lease: Lease): void {
    const stop = new AbortController()
    const signal = AbortSignal.any([lease.signal, stop.signal, this.#stop.signal])
    const ended = workUnderLease(this.#options, { partition, lease, signal }).finally(() => {
      this.#held.delete(partition)
      // That the lease is free may have been told while it still counted as held.
      this.#look()
    })
    this.#held.set(partition, { stop, ended })
  }

  #notReady(): string[] {
    if (this.#holders === undefined || this.#members === undefined) return ['partitions are not known yet']
    const missing = this.#shares.flatMap((member, partition) =>
      member === this.#options.config.instance && !this.#held.has(partition) ? [partition] : [],
    )
    return missing.length === 0 ? [] : [`partitions not taken yet: ${missing.join(', ')}`]
  }

  #warn(error: unknown, message: string): void {
    const { logger, role } = this.#options
    logger.warn({ role, err: error }, message)
  }
}

/** Never rejects: a failure is logged, and tried again while the lease is held. */
async function workUnderLease(
  options: OwnPartitionsOptions,
  held: { partition: number; lease: Lease; signal: AbortSignal },
): Promise<void> {
  const { role, logger, clock, random, work } = options
  const { partition, lease, signal } = held
  logger.info({ role, partition, fence: lease.fence }, 'partition taken')
  for (let attempt = 0; !signal.aborted; attempt++) {
    const begunAt = clock.now()
    try {
      await work({ partition, fence: lease.fence, lease, signal })
    } catch (error) {
      if (signal.aborted) break
      logger.error({ role, partition, attempt, err: error }, 'work on a partition failed; it is tried again')
      const trouble = { at: clock.now(), owner: options.config.instance, message: errorMessage(error) }
      tellTrouble(options.bus, { role, partition, replicas: options.config.replicas, trouble }).catch(
        (failure: unknown) => logger.warn({ role, partition, err: failure }, 'it could not be told to others'),
      )
    }
    if (clock.now() - begunAt > HEALTHY_MS) attempt = 0
    await clock.sleep(backoffDelay(RESTART_BACKOFF, attempt, random), signal).catch(() => undefined)
  }
  logger.info({ role, partition, reason: String(signal.reason) }, 'partition given back')
  await lease
    .release()
    .catch((error: unknown) => logger.warn({ role, partition, err: error }, 'lease could not be released'))
}
