import type { FaultClass, PlanOptions } from './plan.ts'

/** Schedules that always run. Together they have every class of fault, each a kind of trouble of its own. */
export const BOUNDED_SET: readonly (PlanOptions & { title: string; separate: boolean; rivals: boolean })[] = [
  {
    title: 'connections and processes that break',
    ...sized(1, ['kill', 'kill-nats', 'reset', 'truncate', 'gone', 'token', 'server-error', 'empty-list']),
    separate: true,
    rivals: false,
  },
  {
    title: 'what is slow, stands still, and has a rival meanwhile',
    ...sized(2, ['pause', 'pause-nats', 'pause-api', 'slow', 'silent', 'too-many-requests', 'certificate', 'clock']),
    separate: true,
    rivals: true,
  },
  {
    title: 'what takes everything down',
    ...sized(3, ['kill-all', 'kill-api', 'disk-full', 'store-lost']),
    separate: false,
    rivals: false,
  },
]

function sized(seed: number, classes: readonly FaultClass[]): PlanOptions {
  return { seed, classes, tenants: 6, pods: 60, seconds: 5 }
}
