import type { Bus, Lease } from '#libs/bus'
import { openLeases } from '#libs/bus'
import type { PipelineConfig } from '#libs/config'
import { type Clock, backoffDelay } from '#libs/kernel'
import type { Logger } from '#libs/telemetry'

export type OwnedPartition = {
  partition: number
  /** Carried by all that is written under this ownership, so that an older owner's writes are refused. */
  fence: number
  lease: Lease
  /** Aborts when the lease is lost or the role stops. */
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
  work(owned: OwnedPartition): Promise<void>
}

/** Partitions that a role holds right now. */
export type PartitionOwner = {
  owned(): number[]
  /** Rejects when ownership can no longer be followed. */
  done: Promise<void>
  /** Stops all work, waits for it, and gives the leases back. */
  close(): Promise<void>
}

const RESTART_BACKOFF = { baseMs: 200, capMs: 10_000 }

/** Takes every partition of a role that nobody holds, whenever one becomes free, and has its work done. */
export async function ownPartitions(options: OwnPartitionsOptions): Promise<PartitionOwner> {
  const { bus, config, role } = options
  const leases = await openLeases(bus, { owner: config.instance, ttlMs: config.leaseTtlMs, replicas: config.replicas })
  const stop = new AbortController()
  const running = new Map<number, Promise<void>>()
  const follow = async (): Promise<void> => {
    for await (const holders of leases.watchHolders({ filter: `${role}.*`, signal: stop.signal })) {
      for (let partition = 0; partition < config.partitions; partition++) {
        if (running.has(partition) || holders.has(`${role}.${partition}`) || stop.signal.aborted) continue
        const lease = await leases.acquire(`${role}.${partition}`)
        if (lease === undefined) continue
        const work = workUnderLease(options, { partition, lease, stop: stop.signal })
        running.set(partition, work)
        void work.finally(() => running.delete(partition))
      }
    }
  }
  return {
    owned: () => [...running.keys()],
    done: follow(),
    close: async () => {
      stop.abort(new Error('stopping'))
      await Promise.all(running.values())
    },
  }
}

/** Never rejects: a failure is logged, and tried again while the lease is held. */
async function workUnderLease(
  options: OwnPartitionsOptions,
  held: { partition: number; lease: Lease; stop: AbortSignal },
): Promise<void> {
  const { role, logger, clock, random, work } = options
  const { partition, lease, stop } = held
  const signal = AbortSignal.any([lease.signal, stop])
  logger.info({ role, partition, fence: lease.fence }, 'partition taken')
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      await work({ partition, fence: lease.fence, lease, signal })
    } catch (error) {
      if (signal.aborted) break
      logger.error({ role, partition, attempt, err: error }, 'work on a partition failed; it is tried again')
    }
    await clock.sleep(backoffDelay(RESTART_BACKOFF, attempt, random), signal).catch(() => undefined)
  }
  logger.info({ role, partition, reason: String(signal.reason) }, 'partition given back')
  await lease
    .release()
    .catch((error: unknown) => logger.warn({ role, partition, err: error }, 'lease could not be released'))
}
