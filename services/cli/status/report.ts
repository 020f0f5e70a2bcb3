import type { PartitionState } from '#libs/explain'
import type { DeletionHold, WaitingReport } from '#libs/runtime'

/** One tenant, as `status` shows it. */
export type TenantStatus = {
  name: string
  state: string
  message: string
  partition: number
  hostNamespace: string
  held?: DeletionHold
  /** How many of its objects wait, by reason, those left out that an operator has dropped. */
  waiting: WaitingReport['counts']
  /** How many an operator has dropped. */
  dropped: number
  /** Messages of it that are not processed. */
  behind: number
  /** Since when the oldest of what is not in sync is not: a message or an object that waits, ms since the epoch. */
  oldest?: number
  /** What went wrong last. */
  lastError?: string
}

/** How it stands with all of an installation. Fields are added, never changed: scripts read it as JSON. */
export type StatusReport = {
  /** When this was so, ms since the epoch. */
  at: number
  processes: { name: string; pid: number | undefined }[]
  streams: { name: string; messages: number; bytes: number }[]
  partitions: { role: string; held: number; of: number; owners: string[] }[]
  /** Each role's work on each partition. */
  work: PartitionState[]
  hostOwner?: string
  /** What went wrong last with watching the host, within a day. */
  hostError?: { at: number; message: string }
  host: { state: string; message: string }
  tenants: TenantStatus[]
}

/** What is not processed for longer than this is late: what is there just now is on its way. */
const LATE_MS = 10_000

/** What is not in order, in words; empty when all is. */
export function complaints(report: StatusReport): string[] {
  const { at, host, work, hostOwner, tenants } = report
  const isLate = (since: number | undefined): boolean => since !== undefined && since < at - LATE_MS
  return [
    ...(host.state === 'synced' ? [] : [`the host is ${host.state}`]),
    ...(hostOwner === undefined ? ['no watcher follows the host'] : []),
    ...work.flatMap(({ role, partition, owner, since }) => [
      ...(owner === undefined ? [`no ${role} owns partition ${partition}`] : []),
      ...(isLate(since) ? [`the ${role} of partition ${partition} is late`] : []),
    ]),
    ...tenants.flatMap(({ name, state, held, waiting }) => [
      ...(state === 'synced' ? [] : [`tenant ${name} is ${state}`]),
      ...(held === undefined ? [] : [`deletions of tenant ${name} are stopped`]),
      ...(Object.keys(waiting).length === 0 ? [] : [`objects of tenant ${name} wait`]),
    ]),
  ]
}

/** What of a report is a change to whoever watches it: not how old something is, and not how full a stream. */
export function signature(report: StatusReport): string {
  const { at: _at, streams: _streams, work, tenants, ...rest } = report
  const isBehind = (behind: number): boolean => behind > 0
  return JSON.stringify({
    ...rest,
    work: work.map(({ since: _since, behind, ...each }) => ({ ...each, isBehind: isBehind(behind) })),
    tenants: tenants.map(({ oldest: _oldest, behind, ...each }) => ({ ...each, isBehind: isBehind(behind) })),
  })
}
