import type { Write } from '#libs/events'
import type { Urgency } from './fair-scheduler.ts'

/** What somebody waits for goes first: deletions, bindings and statuses. */
export function urgencyOf(write: Write): Urgency {
  switch (write.op) {
    case 'delete':
    case 'bind':
    // Between its two halves the tenant has no object at all.
    case 'replace':
      return 'urgent'
    case 'patch':
      return write.subresource === 'status' ? 'urgent' : 'bulk'
    case 'create':
    case 'announce':
      return 'bulk'
  }
}
