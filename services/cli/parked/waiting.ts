import { type ObjectRef, displayName } from '#libs/kube-model'
import type { WaitingReport } from '#libs/runtime'
import { align } from '../output/table.ts'

/** What waits, in few words: `3 wait: QuotaExceeded 2, CrdMissing 1`; empty where nothing does. */
export function waitingSummary({ counts }: Pick<WaitingReport, 'counts'>): string {
  const reasons = Object.entries(counts).toSorted(([a, of], [b, other]) => other - of || a.localeCompare(b))
  const all = reasons.reduce((sum, [, count]) => sum + count, 0)
  if (all === 0) return ''
  return `${all} ${all === 1 ? 'waits' : 'wait'}: ${reasons.map(([reason, count]) => `${reason} ${count}`).join(', ')}`
}

/**
 * A tenant's waiting objects as a table, those that have waited longest first.
 * @param width of the terminal. @default as wide as it takes
 */
export function waitingLines(tenant: string, report: WaitingReport, width?: number): string[] {
  const { objects, counts } = report
  if (objects.length === 0) return [`nothing of tenant ${tenant} waits`]
  const rows = objects.map((each) => [objectName(each), each.reason, new Date(each.since).toISOString()])
  const more = Object.values(counts).reduce((sum, count) => sum + count, 0) - objects.length
  return [
    ...align([['OBJECT', 'WAITS FOR', 'SINCE'], ...rows], width),
    ...(more > 0 ? [`… and ${more} more that have waited less long`] : []),
    `docs/reasons.md says what each means; "causeway why KIND/NAME -t ${tenant}" says more of one object`,
  ]
}

function objectName({ resource, ...of }: ObjectRef): string {
  return `${resource}/${displayName(of)}`
}
