import type { Bus } from '#libs/bus'
import { partitionOf } from '#libs/events'
import type { Clock } from '#libs/kernel'
import type { Projection } from '#libs/projection'
import type { TenantDirectory } from '#libs/runtime'
import type { Logger } from '#libs/telemetry'
import { kindsOff } from './kinds-off.ts'
import type { TranslatorMetrics } from './metrics.ts'
import type { PartitionWorker } from './partition-worker.ts'
import { unownedPartitions } from './unowned-partitions.ts'

/** How often what is counted is measured. */
const EVERY_MS = 2_000
/** Who works on what is read this often. */
const OWNERS_EVERY_MS = 5_000
/** What tenants are configured to is counted this often: there may be very many of them. */
const KINDS_EVERY_MS = 30_000

export type GaugesOptions = {
  bus: Bus
  partitions: number
  replicas: number
  directory: Pick<TenantDirectory, 'tenants' | 'context'>
  /** The partitions that are worked on, by number. */
  workers: ReadonlyMap<number, { worker: PartitionWorker; projection: Projection }>
  metrics: TranslatorMetrics
  clock: Clock
  logger: Logger
}

/** Measures now and then what a translator has of lag and waiting objects. @returns what ends it */
export function measure(options: GaugesOptions): () => void {
  const { clock, workers, metrics, logger, bus, partitions, replicas } = options
  const ended = new AbortController()
  let kindsAt = 0
  let ownersAt = 0
  let isAsking = false
  const owners = async (): Promise<void> => {
    isAsking = true
    try {
      metrics.unowned(await unownedPartitions(bus, { partitions, replicas, signal: ended.signal }))
    } catch (error) {
      if (!ended.signal.aborted) logger.warn({ err: error }, 'who works on what could not be read')
    } finally {
      isAsking = false
    }
  }
  const timer = setInterval(() => {
    const now = clock.now()
    measureWorkers(workers, metrics, now)
    if (now >= ownersAt && !isAsking && bus.isConnected()) {
      ownersAt = now + OWNERS_EVERY_MS
      void owners()
    }
    if (now < kindsAt) return
    kindsAt = now + KINDS_EVERY_MS
    metrics.kindsOff(kindsOff(ownTenants(options)))
  }, EVERY_MS)
  return () => {
    clearInterval(timer)
    ended.abort()
  }
}

function measureWorkers(workers: GaugesOptions['workers'], metrics: TranslatorMetrics, now: number): void {
  const parked = new Map<string, number>()
  const noted = new Map<string, number>()
  const waiting = new Map<string, number>()
  let since = now
  for (const [partition, { worker, projection }] of workers) {
    const { pending } = projection
    metrics.lag(partition, worker.lag)
    for (const { reason, count } of pending.parkedByReason()) add(parked, reason, count)
    for (const { reason, count } of pending.notedByReason()) add(noted, reason, count)
    for (const { tenant, count } of pending.waitingByReason()) add(waiting, tenant, count)
    since = Math.min(since, pending.unansweredSince() ?? now)
  }
  metrics.parked(parked)
  metrics.noted(noted)
  metrics.waiting(waiting)
  metrics.unanswered(Math.max(0, now - since) / 1_000)
  metrics.held([...workers.values()].reduce((sum, { worker }) => sum + worker.holding, 0))
}

function add(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count)
}

function ownTenants({ directory, partitions, workers }: GaugesOptions) {
  return directory.tenants().flatMap(({ name }) => {
    const context = workers.has(partitionOf(name, partitions)) ? directory.context(name) : undefined
    return context === undefined ? [] : [context]
  })
}
