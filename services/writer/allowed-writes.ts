import type { Write } from '#libs/events'
import type { Side } from '#libs/kube-model'

/** A write as the table names it: `patch/status` is a patch of the status subresource. */
export type WriteName = 'create' | 'patch' | 'patch/status' | 'bind' | 'delete' | 'replace' | 'announce'

/**
 * Every write that may ever be made, by side and resource. Host resources are namespaced throughout: nothing
 * cluster-scoped is written there. What is not here is refused, whatever an intent says.
 */
const ALLOWED: Record<Side, Record<string, readonly WriteName[]>> = {
  host: {
    pods: ['create', 'patch', 'delete'],
    services: ['create', 'patch', 'delete'],
    configmaps: ['create', 'patch', 'delete'],
    secrets: ['create', 'patch', 'delete'],
  },
  virtual: {
    pods: ['patch', 'patch/status', 'bind', 'delete'],
    services: ['patch', 'patch/status', 'replace'],
    configmaps: ['patch'],
    secrets: ['patch'],
    nodes: ['create', 'patch', 'patch/status', 'delete'],
    events: ['announce'],
  },
}

export function writeName(write: Write): WriteName {
  return write.op === 'patch' && write.subresource === 'status' ? 'patch/status' : write.op
}

/** Whether this kind of write is ever made to this resource on this side. */
export function isAllowed(side: Side, resource: string, write: Write): boolean {
  const row = Object.hasOwn(ALLOWED[side], resource) ? ALLOWED[side][resource] : undefined
  return row?.includes(writeName(write)) ?? false
}

/** Every (side, resource, write) that is allowed, e.g. to initialise metrics. */
export function allowedWrites(): { side: Side; resource: string; write: WriteName }[] {
  return (['host', 'virtual'] as const).flatMap((side) =>
    Object.entries(ALLOWED[side]).flatMap(([resource, writes]) => writes.map((write) => ({ side, resource, write }))),
  )
}
