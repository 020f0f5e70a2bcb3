import { type Bus, type LeaseValue, lastSequence, openKv, openLeases } from '#libs/bus'
import { STREAMS, partitionFilters } from '#libs/events'
import { openTroubles } from '#libs/runtime'
import { type Unprocessed, readUnprocessed } from './read-unprocessed.ts'

/** How it stands with one role's work on one partition. */
export type PartitionState = {
  role: 'watcher' | 'translator' | 'writer'
  partition: number
  /** Who does it; absent when nobody does. */
  owner?: string
  /** Messages of the log that are not processed, and when the oldest of them came, ms since the epoch. */
  behind: number
  since?: number
  /** What went wrong last with it, within a day. */
  lastError?: { at: number; message: string }
}

export type PipelineState = {
  /** By role, then partition. */
  partitions: PartitionState[]
  /** Who watches the host, for all partitions. */
  hostOwner?: string
  /** What went wrong last with that, within a day. */
  hostError?: { at: number; message: string }
  /** What of tenants is not processed, of those of which something is. */
  tenants: ReadonlyMap<string, Unprocessed>
}

/** How many partitions are looked at at once. */
const TOGETHER = 8
const NOTHING: Unprocessed = { behind: 0 }

/**
 * Who works on what, and what of the log is not processed, by partition and by tenant.
 * @throws BusError
 */
export async function pipelineState(bus: Bus, of: { partitions: number; replicas: number }): Promise<PipelineState> {
  const { partitions, replicas } = of
  const [owners, troubles, positions, changes, intents] = await Promise.all([
    ownersOf(bus, replicas),
    readTroubles(bus, replicas),
    readPositions(bus, replicas),
    lastSequence(bus, STREAMS.changes),
    lastSequence(bus, STREAMS.intents),
  ])
  const tenants = new Map<string, Unprocessed>()
  const states: PartitionState[] = []
  const look = async (partition: number): Promise<void> => {
    const read = async (type: 'change' | 'intent', position: number, last: number): Promise<Unprocessed> => {
      if (position >= last) return NOTHING
      const stream = type === 'change' ? STREAMS.changes : STREAMS.intents
      const found = await readUnprocessed(bus, { stream, filterSubjects: partitionFilters(type, partition), position })
      for (const [tenant, each] of found.tenants) tenants.set(tenant, sum(tenants.get(tenant), each))
      return found
    }
    const [translator, writer] = await Promise.all([
      read('change', positions.get(`translator.${STREAMS.changes}.${partition}`) ?? 0, changes),
      read('intent', positions.get(`writer.${partition}`) ?? 0, intents),
    ])
    const lags = { watcher: NOTHING, translator, writer }
    for (const role of ['watcher', 'translator', 'writer'] as const) {
      const owner = owners.get(`${role}.${partition}`)?.owner
      const { behind, since } = lags[role]
      states.push({
        role,
        partition,
        ...(owner === undefined ? {} : { owner }),
        behind,
        ...(since === undefined ? {} : { since }),
        ...errorOf(troubles.get(`${role}.${partition}`)),
      })
    }
  }
  for (let first = 0; first < partitions; first += TOGETHER) {
    const count = Math.min(TOGETHER, partitions - first)
    await Promise.all(Array.from({ length: count }, (_, at) => look(first + at)))
  }
  const hostOwner = owners.get('watcher-host.0')?.owner
  const hostTrouble = troubles.get('watcher-host.0')
  return {
    partitions: states.toSorted((a, b) => ROLES.indexOf(a.role) - ROLES.indexOf(b.role) || a.partition - b.partition),
    ...(hostOwner === undefined ? {} : { hostOwner }),
    ...(hostTrouble === undefined ? {} : { hostError: hostTrouble }),
    tenants,
  }
}

const ROLES: readonly PartitionState['role'][] = ['watcher', 'translator', 'writer']

function sum(one: Unprocessed | undefined, other: Unprocessed): Unprocessed {
  if (one === undefined) return other
  return {
    behind: one.behind + other.behind,
    since: Math.min(one.since ?? Number.POSITIVE_INFINITY, other.since ?? Number.POSITIVE_INFINITY),
  }
}

/** Who holds what at this moment, by the key of the lease. */
async function ownersOf(bus: Bus, replicas: number): Promise<ReadonlyMap<string, LeaseValue>> {
  const leases = await openLeases(bus, { owner: 'reader', replicas })
  for await (const holders of leases.watchHolders()) return holders
  return new Map()
}

function errorOf(trouble: { at: number; message: string } | undefined): Pick<PartitionState, 'lastError'> {
  return trouble === undefined ? {} : { lastError: trouble }
}

/** What went wrong last, by role and partition. */
async function readTroubles(bus: Bus, replicas: number): Promise<ReadonlyMap<string, { at: number; message: string }>> {
  const kv = await openTroubles(bus, replicas)
  return new Map((await kv.list('*.*')).map(({ key, value: { at, message } }) => [key, { at, message }]))
}

/** How far translators and writers are, by key. */
async function readPositions(bus: Bus, replicas: number): Promise<ReadonlyMap<string, number>> {
  const kv = await openKv<{ value?: number | { seq: number } }>(bus, { bucket: 'positions', replicas })
  const found = await Promise.all([kv.list('translator.*.*'), kv.list('writer.*')])
  return new Map(
    found.flat().flatMap(({ key, value: { value } }) => {
      if (value === undefined) return []
      return [[key, typeof value === 'number' ? value : value.seq]]
    }),
  )
}
