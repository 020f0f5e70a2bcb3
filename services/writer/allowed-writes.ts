import { type Write, type WriteName, writeName } from '#libs/events'
import type { Side } from '#libs/kube-model'
import { REACH } from '#libs/translation'

/** Whether this kind of write is ever made to this resource on this side. */
export function isAllowed(side: Side, resource: string, write: Write): boolean {
  const row = Object.hasOwn(REACH[side], resource) ? REACH[side][resource] : undefined
  return row?.includes(writeName(write)) ?? false
}

/** Every (side, resource, write) that is allowed, e.g. to initialise metrics. */
export function allowedWrites(): { side: Side; resource: string; write: WriteName }[] {
  return (['host', 'virtual'] as const).flatMap((side) =>
    Object.entries(REACH[side]).flatMap(([resource, writes]) => writes.map((write) => ({ side, resource, write }))),
  )
}
