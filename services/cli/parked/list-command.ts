import type { ObjectRef } from '#libs/kube-model'
import {
  type DroppedWrites,
  type WaitingReport,
  openDroppedWrites,
  openWaitingReports,
  waitingKey,
} from '#libs/runtime'
import { droppedByTenant } from '../status/gather.ts'
import { type CommandOptions, withRunning } from '../tenant/running.ts'
import { EXIT } from '../why/exit-status.ts'
import { askedReason, askedTenant } from './order.ts'
import { type ParkedObject, parkedLines } from './parked-lines.ts'

/**
 * Lists what waits, those first that have waited longest. Exit status 1 when something does that is not dropped.
 * @throws ConfigError when the tenant or the reason is not known
 */
export async function listParked(
  options: CommandOptions & { tenant: string | undefined; reason: string | undefined },
): Promise<number> {
  const { terminal, json } = options
  const { reason } = askedReason(options.reason)
  return withRunning(options, async (running) => {
    const { bus, info, registry } = running
    const names =
      options.tenant === undefined
        ? (await registry.list()).map(({ name }) => name)
        : [(await askedTenant(running, options.tenant)).name]
    const reports = await (await openWaitingReports(bus, info.replicas)).list(waitingKey(options.tenant ?? '*'))
    const byKey = new Map(reports.map(({ key, value }) => [key, value]))
    const marks = await droppedByTenant(await openDroppedWrites(bus, info.replicas))
    const all = names.map((tenant) => parkedOf(tenant, byKey.get(waitingKey(tenant)), marks.get(tenant) ?? []))
    const isMeant = (each: { reason: string }): boolean => reason === undefined || each.reason === reason
    const objects = all
      .flatMap((each) => each.objects)
      .filter(isMeant)
      .toSorted((a, b) => (a.since ?? 0) - (b.since ?? 0))
    // Reports name 200 objects of a tenant, and count all.
    const total = all.reduce((sum, { counts }) => sum + countOf(counts, reason), 0)
    const unnamed = Math.max(0, total - objects.length)
    if (json) terminal.print(JSON.stringify({ objects, unnamed }))
    else
      for (const line of parkedLines({ objects, unnamed }, terminal.isTty ? terminal.width : undefined))
        terminal.print(line)
    return objects.some(({ dropped }) => dropped === undefined) || unnamed > 0 ? EXIT.notInSync : EXIT.inSync
  })
}

function parkedOf(
  tenant: string,
  report: WaitingReport | undefined,
  marks: readonly DroppedWrites[],
): { objects: ParkedObject[]; counts: WaitingReport['counts'] } {
  const markOf = new Map(marks.map((mark) => [idOf(mark.object), mark]))
  const named = (report?.objects ?? []).map(({ resource, namespace, name, reason, since }) => {
    const mark = markOf.get(idOf({ resource, namespace, name }))
    markOf.delete(idOf({ resource, namespace, name }))
    return { tenant, resource, namespace, name, reason, since, ...droppedOf(mark) }
  })
  // What is not named there for having waited less long than others.
  const others = [...markOf.values()].map((mark) => ({
    tenant,
    ...mark.object,
    reason: mark.reason,
    ...droppedOf(mark),
  }))
  return { objects: [...named, ...others], counts: report?.counts ?? {} }
}

function droppedOf(mark: DroppedWrites | undefined): Pick<ParkedObject, 'dropped'> {
  if (mark === undefined) return {}
  const { at, by } = mark
  return { dropped: { at, ...(by === undefined ? {} : { by }) } }
}

function countOf(counts: WaitingReport['counts'], reason: string | undefined): number {
  if (reason !== undefined) return counts[reason] ?? 0
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

function idOf({ resource, namespace, name }: ObjectRef): string {
  return `${resource}/${namespace}/${name}`
}
