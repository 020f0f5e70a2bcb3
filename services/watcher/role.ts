import { createPublisher, openKv, openLeases, openPositions } from '#libs/bus'
import { DEFAULT_TENANT_WINDOW } from '#libs/config'
import { STREAMS, partitionOf } from '#libs/events'
import { createPacer } from '#libs/kernel'
import {
  HOST_PLACE,
  type OwnedPartition,
  type Role,
  type RoleContext,
  openClusterClaims,
  openClusterIdentities,
  openOrders,
  ownPartitions,
  tenantIdentityKey,
} from '#libs/runtime'
import { ChangeWindows } from './change-windows.ts'
import { createWatcherMetrics } from './metrics.ts'
import { notReady } from './not-ready.ts'
import type { WatchPosition } from './position.ts'
import { HostNamespaces } from './host-namespaces.ts'
import { STATUS_BUCKET, StatusBoard, type StoredStatus, type WatchStatus } from './status-board.ts'
import { UnplacedCopies } from './unplaced-copies.ts'
import { Vacancies } from './vacancies.ts'
import { Verifications } from './verifications.ts'
import { watchHost } from './watch-host.ts'
import { watchPartition } from './watch-partition.ts'
import type { Ownership, WatcherParts } from './watcher-parts.ts'

/** The watcher, which also tells how each watched API is. */
export type WatcherRole = Role & {
  /** Every kind of every tenant watched here; `tenant` is empty for the host. */
  statuses(): WatchStatus[]
}

/** Changes of one tenant that may be unacked at once. */
const UNACKED = 256
/** The same of all tenants; less than the publisher sends at once, so that it is here that they take turns. */
const UNACKED_OF_ALL = 512
/** Changes of one object that may be on their way to its translator at once. */
const PER_OBJECT = 8
const SWEEP_EVERY_MS = 1_000

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
  const windows = new ChangeWindows({
    unacked: UNACKED,
    unackedOfAll: UNACKED_OF_ALL,
    unprocessed: config.tenantWindow ?? DEFAULT_TENANT_WINDOW,
    perObject: PER_OBJECT,
    partitionOf: (tenant) => (tenant === '' ? undefined : partitionOf(tenant, partitions)),
    now: () => clock.now(),
  })
  const stop = new AbortController()
  const verifications = new Verifications({
    orders: await openOrders(bus, replicas, 'watcher'),
    clock,
    logger,
    signal: AbortSignal.any([context.signal, stop.signal]),
  })
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
    pacer: createPacer(),
    random,
    partitions,
    windows,
    verifications,
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
    work: (owned) =>
      verifications.owning(owned.partition, () => watchPartition(parts, owned.partition, ownership(owned))),
  })
  const host = await ownPartitions({
    ...shared,
    config: { ...config, partitions: 1 },
    role: 'watcher-host',
    work: (owned) => verifications.owning(HOST_PLACE, () => watchHost(parts, ownership(owned))),
  })
  const leases = await openLeases(bus, { owner: config.instance, ttlMs: config.leaseTtlMs, replicas })
  const vacant = new Vacancies([
    ...Array.from({ length: partitions }, (_, partition) => `watcher.${partition}`),
    'watcher-host.0',
  ])
  const followHolders = async (filter: string): Promise<void> => {
    for await (const holders of leases.watchHolders({ filter, signal: stop.signal })) vacant.update(filter, holders)
  }
  const gauges = setInterval(() => parts.metrics.watches(board.list()), GAUGES_EVERY_MS)
  const translators = await openPositions<number>(bus, { replicas })
  const followTranslators = async (): Promise<void> => {
    for await (const { key, value } of translators.watch(`translator.${STREAMS.changes}.*`, stop.signal))
      windows.moved(Number(key.slice(key.lastIndexOf('.') + 1)), value)
  }
  const sweeping = setInterval(() => windows.sweep(), SWEEP_EVERY_MS)
  const following = Promise.all([followHolders('watcher.*'), followHolders('watcher-host.*'), followTranslators()])
  const done = Promise.all([tenants.done, host.done, following]).then(() => undefined)
  return {
    name: 'watcher',
    statuses: () => board.list(),
    notReady: () => (bus.isConnected() ? [...vacant.problems(), ...notReady(board.list())] : ['not connected to NATS']),
    done,
    close: async () => {
      clearInterval(gauges)
      stop.abort()
      clearInterval(sweeping)
      await Promise.all([tenants.close(), host.close()])
      await board.idle()
      publisher.close()
    },
  }
}
