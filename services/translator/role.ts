import { join } from 'node:path'
import { BusError, createPublisher, openPositions } from '#libs/bus'
import { Projection, isDamaged, removeDatabase } from '#libs/projection'
import { partitionOf } from '#libs/events'
import { createPacer } from '#libs/kernel'
import {
  type OwnedPartition,
  type Role,
  type RoleContext,
  openDeletionHolds,
  openDroppedWrites,
  openOrders,
  openWaitingReports,
  ownPartitions,
} from '#libs/runtime'
import { DroppedMarks } from './dropped-marks.ts'
import { ProjectionOutdated } from './fill-projection.ts'
import { measure } from './gauges.ts'
import { KeptHolds } from './hold-board.ts'
import { createTranslatorMetrics } from './metrics.ts'
import { OrderDesk } from './order-desk.ts'
import { PartitionWorker } from './partition-worker.ts'
import { WaitingBoard } from './waiting-board.ts'

/** How often it is told what waits. */
const WAITING_EVERY_MS = 1_000

/** Starts translating the partitions that nobody else does. */
export async function startTranslator(context: RoleContext): Promise<Role> {
  const { bus, config, clock, random, directory } = context
  const logger = context.logger.child({ component: 'translator' })
  const metrics = createTranslatorMetrics(context.metrics)
  const publisher = createPublisher(bus, {
    clock,
    onResend: (resend) => logger.warn({ ...resend }, 'messages sent again'),
  })
  const positions = await openPositions<number>(bus, { replicas: config.replicas })
  const waiting = new WaitingBoard({ kv: await openWaitingReports(bus, config.replicas), logger, clock })
  const workers = new Map<number, { worker: PartitionWorker; projection: Projection }>()
  const closing = new AbortController()
  const pacer = createPacer()
  const confirm = async (tenant: string, since: number): Promise<void> => {
    const worker = workers.get(partitionOf(tenant, config.partitions))?.worker
    if (worker === undefined) return
    await worker.confirmDeletions(tenant, since)
    await holds.answered(tenant).catch((error: unknown) => logger.warn({ tenant, err: error }, 'answer not removed'))
  }
  const holds = new KeptHolds({
    kv: await openDeletionHolds(bus, config.replicas),
    logger,
    onConfirmed: (tenant, since) => void confirm(tenant, since),
    signal: AbortSignal.any([context.signal, closing.signal]),
  })
  await holds.read
  const droppedWrites = await openDroppedWrites(bus, config.replicas)
  const desk = new OrderDesk({
    orders: await openOrders(bus, config.replicas),
    partitions: config.partitions,
    clock,
    logger,
    workerOf: (partition) => workers.get(partition)?.worker.orders,
    signal: AbortSignal.any([context.signal, closing.signal]),
  })

  const work = async (owned: OwnedPartition): Promise<void> => {
    const { partition, fence, signal } = owned
    const dropped = await DroppedMarks.read(droppedWrites, logger)
    const path = join(config.dataDir, `projection-${config.partitions}-${partition}.sqlite`)
    const projection = new Projection({
      path,
      vault: context.vault,
      hostNamespaceOf: (tenant) => directory.tenant(tenant)?.hostNamespace,
      contextOf: (tenant) => directory.context(tenant),
    })
    const worker = new PartitionWorker({
      partition,
      partitions: config.partitions,
      fence,
      bus,
      publisher,
      projection,
      vault: context.vault,
      clock,
      pacer,
      random,
      logger,
      metrics,
      tracing: context.tracing,
      signal,
      holds,
      dropped,
      deletions: config.deletions,
      patrolEveryMs: config.patrolEveryMs,
      tenant: (name) => directory.context(name),
      tenants: () => directory.tenants(),
      storePosition: async (stream, value) => {
        try {
          await positions.store(`translator.${stream}.${partition}`, { fence, value })
        } catch (error) {
          // Told for others to see only: that it cannot be told just now stops nothing. A newer owner does.
          if (error instanceof BusError && error.code === 'Fenced') throw error
          logger.warn({ partition, stream, err: error }, 'position could not be stored')
        }
      },
    })
    workers.set(partition, { worker, projection })
    try {
      const running = worker.run()
      for (const { name } of directory.tenants()) {
        const given = partitionOf(name, config.partitions) === partition ? holds.confirmation(name) : undefined
        if (given !== undefined) void confirm(name, given.since)
      }
      desk.taken(partition)
      await running
      projection.close()
    } catch (error) {
      projection.abandon()
      if (error instanceof ProjectionOutdated || isDamaged(error)) removeDatabase(path)
      throw error
    } finally {
      workers.delete(partition)
      await dropped.idle()
      metrics.lost(partition)
    }
  }

  const unsubscribe = directory.subscribe((event) => {
    if (event.type === 'removed') waiting.forget(event.tenant.name)
    for (const { worker } of workers.values()) {
      if (event.type === 'removed') worker.forgetTenant(event.tenant.name, event.tenant.uid)
      else worker.takeTenant(event.tenant)
    }
  })
  const stopMeasuring = measure({ ...context, ...config, workers, metrics, logger })

  const waits = setInterval(() => {
    for (const { projection } of workers.values()) {
      waiting.tell(
        projection.pending,
        projection.tenants().filter((name) => directory.tenant(name) !== undefined),
      )
    }
  }, WAITING_EVERY_MS)

  const owner = await ownPartitions({ bus, config, role: 'translator', logger, clock, random, work })
  return {
    name: 'translator',
    notReady: () => {
      if (!bus.isConnected()) return ['not connected to NATS']
      const behind = [...workers].filter(([, { worker }]) => !worker.caughtUp).map(([partition]) => partition)
      return [
        ...owner.notReady(),
        ...(behind.length === 0 ? [] : [`partitions still catching up: ${behind.join(', ')}`]),
      ]
    },
    done: owner.done,
    close: async () => {
      unsubscribe()
      stopMeasuring()
      clearInterval(waits)
      await owner.close()
      closing.abort()
      await waiting.idle()
      await publisher.flush()
      publisher.close()
    },
  }
}
