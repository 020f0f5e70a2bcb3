import { type Kv, createPublisher, openPositions } from '#libs/bus'
import {
  type ClusterIdentity,
  HOST_IDENTITY,
  type OwnedPartition,
  type Role,
  type RoleContext,
  openClusterIdentities,
  ownPartitions,
  tenantIdentityKey,
} from '#libs/runtime'
import { partitionOf } from '#libs/events'
import { createPacer } from '#libs/kernel'
import { ApiGates } from './api-gates.ts'
import { Capacity } from './capacity.ts'
import { HostPulse } from './host-pulse.ts'
import { DEFAULT_LIMITS, type WriterLimits } from './limits.ts'
import { createWriterMetrics } from './metrics.ts'
import { PartitionWorker } from './partition-worker.ts'
import type { TenantDirectory } from './ports.ts'
import type { ResumePoint } from './settlement.ts'

/** How often queues and limits are measured. */
const GAUGES_EVERY_MS = 5_000

/** Outcomes may share a socket write: what waits for them waits for their echo as well. */
const OUTCOME_CORK_MS = 5

export type WriterContext = Pick<
  RoleContext,
  'bus' | 'config' | 'clock' | 'random' | 'logger' | 'metrics' | 'vault'
> & {
  /** @default none */
  tracing?: RoleContext['tracing']
  directory: Pick<RoleContext['directory'], 'host' | 'tenants' | 'tenant' | 'client'> &
    Partial<Pick<RoleContext['directory'], 'context'>>
}

/** Starts carrying out the intents of the partitions that nobody else does. */
export async function startWriter(context: WriterContext, limits: Partial<WriterLimits> = {}): Promise<Role> {
  const { bus, config, clock, random, vault } = context
  const logger = context.logger.child({ component: 'writer' })
  const metrics = createWriterMetrics(context.metrics)
  const resolved: WriterLimits = { ...DEFAULT_LIMITS, ...limits }
  const publisher = createPublisher(bus, {
    clock,
    corkMs: OUTCOME_CORK_MS,
    onResend: (resend) => logger.warn({ ...resend }, 'messages sent again'),
  })
  const positions = await openPositions<ResumePoint>(bus, { replicas: config.replicas })
  const stopping = new AbortController()
  const gates = new ApiGates({
    clock,
    signal: stopping.signal,
    weight: (tenant) => directory.tenant(tenant)?.weight ?? 1,
  })
  const capacity = new Capacity(resolved.maxHeld)
  const identities = await openClusterIdentities(bus, config.replicas)
  const directory = routesOf(context.directory, identities)
  const pulse = new HostPulse({ host: () => directory.host(), clock, freshMs: resolved.heartbeatMs / 2 })
  const tenantsOf = (partition: number): string[] =>
    context.directory
      .tenants()
      .map(({ name }) => name)
      .filter((name) => partitionOf(name, config.partitions) === partition)
  const workers = new Map<number, PartitionWorker>()
  const pacer = createPacer()

  const work = async (owned: OwnedPartition): Promise<void> => {
    const worker = new PartitionWorker({
      ...owned,
      bus,
      publisher,
      positions,
      directory,
      vault,
      gates,
      capacity,
      tenants: () => tenantsOf(owned.partition),
      pulse,
      limits: resolved,
      clock,
      pacer,
      random,
      logger,
      metrics,
      ...(context.tracing === undefined ? {} : { tracing: context.tracing }),
    })
    workers.set(owned.partition, worker)
    try {
      await worker.run()
    } finally {
      workers.delete(owned.partition)
    }
  }

  const gauges = setInterval(() => {
    for (const [partition, worker] of workers) metrics.lag(partition, worker.lag)
    metrics.gates(gates, capacity.used)
    // A tenant is of one partition.
    metrics.heldBy(new Map([...workers.values()].flatMap(({ held }) => [...held])))
  }, GAUGES_EVERY_MS)

  const owner = await ownPartitions({ bus, config, role: 'writer', logger, clock, random, work })
  return {
    name: 'writer',
    notReady: () => {
      if (!bus.isConnected()) return ['not connected to NATS']
      const behind = [...workers].filter(([, worker]) => !worker.caughtUp).map(([partition]) => partition)
      return behind.length === 0 ? [] : [`partitions still catching up: ${behind.join(', ')}`]
    },
    done: owner.done,
    close: async () => {
      clearInterval(gauges)
      // Each partition stores its outcomes before it ends; what is left then could not be stored in time.
      await owner.close()
      stopping.abort()
      publisher.close()
    },
  }
}

function routesOf(directory: WriterContext['directory'], identities: Kv<ClusterIdentity>): TenantDirectory {
  return {
    host: () => directory.host(),
    tenant: (name) => {
      const entry = directory.tenant(name)
      const client = directory.client(name)
      const config = directory.context?.(name)?.config
      if (entry === undefined || client === undefined) return undefined
      return { client, name, hostNamespace: entry.hostNamespace, ...(config === undefined ? {} : { config }) }
    },
    identity: async (side, name) => {
      const uid = directory.tenant(name)?.uid ?? ''
      return (await identities.get(side === 'host' ? HOST_IDENTITY : tenantIdentityKey({ name, uid })))?.value.uid
    },
  }
}
