import { STREAMS, partitionOf } from '#libs/events'
import { type PartitionState, pipelineState } from '#libs/explain'
import { systemClock } from '#libs/kernel'
import {
  type DeletionHold,
  type DroppedWrites,
  HOLD_PREFIX,
  type WaitingReport,
  droppedFilter,
  openDeletionHolds,
  openDroppedWrites,
  openWaitingReports,
  waitingKey,
} from '#libs/runtime'
import { openHealth } from '../tenant/health.ts'
import type { Running } from '../tenant/running.ts'
import type { StatusReport, TenantStatus } from './report.ts'

const ROLES = ['watcher', 'translator', 'writer'] as const

/** Finds out how it stands with all. @throws BusError when that cannot be told */
export async function gatherStatus({ info, bus, registry }: Running): Promise<StatusReport> {
  const { replicas, partitions } = info
  const listed = async <T>(
    open: Promise<{ list(filter?: string): Promise<{ key: string; value: T }[]> }>,
    filter: string,
  ) => (await open).list(filter)
  const [pipeline, tenants, health, holds, waiting, dropped, streams] = await Promise.all([
    pipelineState(bus, { partitions, replicas }),
    registry.list(),
    listed(openHealth(bus, replicas), '>'),
    listed(openDeletionHolds(bus, replicas), `${HOLD_PREFIX}*`),
    listed(openWaitingReports(bus, replicas), waitingKey('*')),
    droppedByTenant(await openDroppedWrites(bus, replicas)),
    Promise.all(
      Object.values(STREAMS).map(async (name) => {
        const { state } = await bus.manager.streams.info(name)
        return { name, messages: state.messages, bytes: state.bytes }
      }),
    ),
  ])
  const healthBy = new Map(health.map(({ key, value }) => [key, value]))
  const holdBy = new Map(holds.map(({ key, value }) => [key, value]))
  const waitingBy = new Map(waiting.map(({ key, value }) => [key, value]))
  const healthOf = (key: string): { state: string; message: string } => {
    const { state = 'unknown', message = '' } = healthBy.get(key) ?? {}
    return { state, message }
  }
  return {
    at: systemClock.now(),
    processes: [{ name: 'up', pid: info.pid }, ...Object.entries(info.processes).map(([name, pid]) => ({ name, pid }))],
    streams,
    partitions: ROLES.map((role) => {
      const owners = pipeline.partitions.flatMap((each) => (each.role === role ? (each.owner ?? []) : []))
      return { role, held: owners.length, of: partitions, owners: [...new Set(owners)] }
    }),
    work: withRefusals(pipeline.partitions, { waiting: waitingBy, partitions }),
    ...(pipeline.hostError === undefined ? {} : { hostError: pipeline.hostError }),
    ...(pipeline.hostOwner === undefined ? {} : { hostOwner: pipeline.hostOwner }),
    host: healthOf('host'),
    tenants: tenants
      .map(({ name, hostNamespace }) => ({
        name,
        hostNamespace,
        partition: partitionOf(name, partitions),
        ...healthOf(`tenant.${name}`),
        ...heldOf(holdBy.get(HOLD_PREFIX + name) as DeletionHold | undefined),
        ...waitingOf(waitingBy.get(waitingKey(name)), dropped.get(name) ?? [], pipeline.tenants.get(name)),
      }))
      .toSorted((a, b) => a.name.localeCompare(b.name)),
  }
}

/** What an API last refused a writer is the last error of its partition, unless its own is later. */
function withRefusals(
  work: readonly PartitionState[],
  { waiting, partitions }: { waiting: ReadonlyMap<string, WaitingReport>; partitions: number },
): PartitionState[] {
  const refused = new Map<number, { at: number; message: string }>()
  for (const [key, { newest }] of waiting) {
    if (newest === undefined) continue
    const tenant = key.slice(waitingKey('').length)
    const partition = partitionOf(tenant, partitions)
    const message = [`tenant ${tenant}`, newest.reason, newest.message].filter((part) => part !== undefined).join(': ')
    if (newest.since > (refused.get(partition)?.at ?? 0)) refused.set(partition, { at: newest.since, message })
  }
  return work.map((each) => {
    const last = each.role === 'writer' ? refused.get(each.partition) : undefined
    return last === undefined || last.at < (each.lastError?.at ?? 0) ? each : { ...each, lastError: last }
  })
}

/** Marks by tenant: the key names it. */
export async function droppedByTenant(
  kv: Awaited<ReturnType<typeof openDroppedWrites>>,
): Promise<Map<string, DroppedWrites[]>> {
  const marks = new Map<string, DroppedWrites[]>()
  for (const { key, value } of await kv.list(droppedFilter())) {
    const tenant = key.split('.')[1] ?? ''
    marks.set(tenant, [...(marks.get(tenant) ?? []), value])
  }
  return marks
}

function heldOf(held: DeletionHold | undefined): { held?: DeletionHold } {
  return held === undefined ? {} : { held }
}

function waitingOf(
  report: WaitingReport | undefined,
  dropped: readonly DroppedWrites[],
  unprocessed: { behind: number; since?: number } | undefined,
): Pick<TenantStatus, 'waiting' | 'dropped' | 'behind' | 'oldest' | 'lastError'> {
  const waiting = { ...report?.counts }
  for (const { reason } of dropped) {
    const count = (waiting[reason] ?? 0) - 1
    if (count > 0) waiting[reason] = count
    else delete waiting[reason]
  }
  const ages = [unprocessed?.since, report?.objects[0]?.since].filter((age) => age !== undefined)
  const newest = report?.newest
  return {
    waiting,
    dropped: dropped.length,
    behind: unprocessed?.behind ?? 0,
    ...(ages.length === 0 ? {} : { oldest: Math.min(...ages) }),
    ...(newest === undefined
      ? {}
      : { lastError: [newest.reason, newest.message].filter((part) => part !== undefined).join(': ') }),
  }
}
