import { type Explanation, REMEDIES, type VerdictReason } from '#libs/explain'
import { displayName } from '#libs/kube-model'
import { align } from '../output/table.ts'
import { droppedText } from './parked-lines.ts'

/** What is to be said of one object that waits; `isParked` alone where it does not. */
export type ParkedFact = {
  isParked: boolean
  reason?: string
  /** The API's words, or what is to be decided says. */
  message?: string
  /** Since when it waits, ms since the epoch. */
  since?: number
  /** How often it was tried. */
  attempts?: number
  /** Between when it is tried again if nothing else happens, ms since the epoch. */
  nextTry?: { from: number; until: number }
  /** Whether nothing is tried until something changes. */
  isJudged?: boolean
  dropped?: { at: number; by?: string }
  /** What it refers to and is not there. */
  missing?: string[]
  remedy?: string
}

/**
 * Draws together what an object waits for.
 * @param told what its translator has last said of it
 */
export function parkedFact(
  { verdict, facts }: Pick<Explanation, 'verdict' | 'facts'>,
  told: { reason: string; since: number } | undefined,
): ParkedFact {
  const write = facts.writes.find(({ outcome }) => outcome?.result === 'parked' || outcome?.result === 'refused')
  const isWaiting = told !== undefined || facts.dropped !== undefined || facts.rejected !== undefined
  if (verdict.isInSync === true || !isWaiting) return { isParked: false }
  const { rejected, dropped } = facts
  const reason = rejected?.reason ?? told?.reason ?? write?.outcome?.reason ?? verdict.reason
  const isOfWrite = rejected === undefined && write?.outcome !== undefined && write.outcome.reason === reason
  const missing = facts.missing.map(({ resource, name }) => `${resource}/${name}`)
  const message = rejected?.message ?? (isOfWrite ? write.outcome?.message : undefined)
  const since = told?.since ?? (isOfWrite ? write.outcome?.at : undefined)
  const remedy = REMEDIES[reason as VerdictReason]
  const nextTry = isOfWrite && dropped === undefined ? write.outcome?.nextTry : undefined
  return {
    isParked: true,
    reason,
    ...(message === undefined ? {} : { message }),
    ...(since === undefined ? {} : { since }),
    ...(isOfWrite ? { attempts: write.attempt + (write.isRetried ? 0 : 1) } : { isJudged: true }),
    ...(nextTry === undefined ? {} : { nextTry }),
    ...(dropped === undefined ? {} : { dropped }),
    ...(missing.length === 0 ? {} : { missing }),
    ...(remedy === undefined ? {} : { remedy }),
  }
}

/** The same in words. */
export function parkedFactLines(
  { verdict, facts }: Pick<Explanation, 'verdict' | 'facts'>,
  fact: ParkedFact,
): string[] {
  const { object } = facts
  const whose = `${object.kind} ${displayName(object)} of tenant ${object.tenant}`
  if (!fact.isParked) return [`${whose} waits for nothing: ${verdict.reason}, ${verdict.summary}`]
  const { reason = '', message, since, attempts, missing, remedy } = fact
  const rows = [
    ['reason', reason],
    ...(message === undefined ? [] : [['answer', message]]),
    ...(since === undefined ? [] : [['since', new Date(since).toISOString()]]),
    ...(attempts === undefined ? [] : [['attempts', String(attempts)]]),
    ['next try', nextTry(fact)],
    ...(missing === undefined ? [] : [['missing', missing.join(', ')]]),
    ...(remedy === undefined ? [] : [['remedy', remedy]]),
  ]
  return [`${whose} waits`, ...align(rows).map((line) => `  ${line}`)]
}

function nextTry({ dropped, isJudged, nextTry: next }: ParkedFact): string {
  if (dropped !== undefined) return `none, ${droppedText(dropped)}: when it changes, or by "causeway parked retry"`
  if (isJudged === true) return 'judged again when it changes, or what it refers to'
  if (next === undefined) return 'under way'
  return `by ${new Date(next.until).toISOString()}, and at once when its cause goes`
}
