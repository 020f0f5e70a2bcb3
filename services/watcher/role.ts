import { createPublisher, openKv, openLeases, openPositions } from '#libs/bus'
import { STREAMS } from '#libs/events'
import {
  type OwnedPartition,
  type Role,
  type RoleContext,
  openClusterClaims,
  openClusterIdentities,
  ownPartitions,
  tenantIdentityKey,
} from '#libs/runtime'
import { createWatcherMetrics } from './metrics.ts'
import { notReady } from './not-ready.ts'
import type { WatchPosition } from './position.ts'
import { HostNamespaces } from './host-namespaces.ts'
import { STATUS_BUCKET, StatusBoard, type StoredStatus, type WatchStatus } from './status-board.ts'
import { UnplacedCopies } from './unplaced-copies.ts'
import { Vacancies } from './vacancies.ts'
import { watchHost } from './watch-host.ts'
import { watchPartition } from './watch-partition.ts'
import type { Ownership, WatcherParts } from './watcher-parts.ts'

/** The watcher, which also tells how each watched API is. */
export type WatcherRole = Role & {
  /** Every kind of every tenant watched here; `tenant` is empty for the host. */
  statuses(): WatchStatus[]
}

/** Changes of one tenant that may be unacked at once; what exceeds it waits and coalesces. */
const WINDOW = 256

const VERIFY_EVERY_MS = 3_600_000

/** How often it is counted how it stands with the watches. */
const GAUGES_EVERY_MS = 5_000

/** Starts watching the tenants of the partitions that nobody else does, and the host, if nobody else does. */
export async function startWatcher(context: RoleContext): Promise<WatcherRole> {
  const { bus, config, clock, random, directory, vault } = context
  const logger = context.logger.child({ component: 'watcher' })
  const { replicas, partitions } = config
  const publisher = createPublisher(bus, {
    clock,
    window: 1_024,
    onResend: (resend) => logger.warn({ ...resend }, 'messages sent again'),
  })
  const positions = await openPositions<WatchPosition>(bus, { replicas })
  const identities = await openClusterIdentities(bus, replicas)
  const claims = {
    kv: await openClusterClaims(bus, replicas),
    isRegistered: (key: string) => directory.tenants().some((tenant) => tenantIdentityKey(tenant) === key),
  }
  const kv = await openKv<StoredStatus>(bus, { bucket: STATUS_BUCKET, replicas, description: 'watched APIs' })
  const board = new StatusBoard({ kv, logger, clock })
  const parts: WatcherParts = {
    bus,
    directory,
    publisher,
    positions,
    identities,
    claims,
    board,
    hostNamespaces: new HostNamespaces(directory),
    unplacedCopies: new UnplacedCopies(directory),
    vault,
    metrics: createWatcherMetrics(context.metrics),
    tracing: context.tracing,
    logger,
    clock,
    random,
    partitions,
    window: WINDOW,
    verifyEveryMs: config.verifyEveryMs ?? VERIFY_EVERY_MS,
    logCreated: (await bus.manager.streams.info(STREAMS.changes)).created,
  }
  const ownership = ({ fence, lease, signal }: OwnedPartition): Ownership => ({
    fence,
    signal,
    held: () => lease.isHeld(),
  })
  const shared = { bus, logger, clock, random }
  const tenants = await ownPartitions({
    ...shared,
    config,
    role: 'watcher',
    work: (owned) => watchPartition(parts, owned.partition, ownership(owned)),
  })
  const host = await ownPartitions({
    ...shared,
    config: { ...config, partitions: 1 },
    role: 'watcher-host',
    work: (owned) => watchHost(parts, ownership(owned)),
  })
  const leases = await openLeases(bus, { owner: config.instance, ttlMs: config.leaseTtlMs, replicas })
  const stop = new AbortController()
  const vacant = new Vacancies([
    ...Array.from({ length: partitions }, (_, partition) => `watcher.${partition}`),
    'watcher-host.0',
  ])
  const followHolders = async (filter: string): Promise<void> => {
    for await (const holders of leases.watchHolders({ filter, signal: stop.signal })) vacant.update(filter, holders)
  }
  const gauges = setInterval(() => parts.metrics.watches(board.list()), GAUGES_EVERY_MS)
  const following = Promise.all([followHolders('watcher.*'), followHolders('watcher-host.*')])
  const done = Promise.all([tenants.done, host.done, following]).then(() => undefined)
  return {
    name: 'watcher',
    statuses: () => board.list(),
    notReady: () => (bus.isConnected() ? [...vacant.problems(), ...notReady(board.list())] : ['not connected to NATS']),
    done,
    close: async () => {
      clearInterval(gauges)
      stop.abort()
      await Promise.all([tenants.close(), host.close()])
      await board.idle()
      publisher.close()
    },
  }
}
