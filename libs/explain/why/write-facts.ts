import { backoffDelay } from '#libs/kernel'
import type { Side } from '#libs/kube-model'
import type { IntentEntry, OutcomeEntry, StoryEntry } from '../story/story-entry.ts'
import type { Facts, WriteFact } from './facts.ts'

/** As the translator waits: at least half of the shortest, at most the longest. */
const PARKED = { baseMs: 2_000, leastCapMs: 5_000, mostCapMs: 60_000 }
const REFUSED_MS = 600_000

/** The rules by which the tenant's object goes because its copy did. */
const HOST_RULES: readonly string[] = ['hostGone', 'hostTerminating', 'moved']

/** The newest write of each kind, on both sides, with what became of it; the newest first. */
export function writeFacts(entries: readonly StoryEntry[]): WriteFact[] {
  const outcomes = new Map<string, OutcomeEntry>()
  for (const entry of entries) if (entry.kind === 'outcome') outcomes.set(entry.intentId, entry)
  const newest = new Map<string, WriteFact>()
  const before = new Map<string, { digest: string; outcome: OutcomeEntry }>()
  for (const entry of entries) {
    if (entry.kind !== 'intent' || entry.op === 'announce') continue
    const slot = `${entry.side}/${entry.op}`
    const outcome = outcomes.get(entry.id)
    const earlier = before.get(slot)
    const isRetried = outcome === undefined && entry.attempt > 0 && earlier?.digest === entry.digest
    newest.set(slot, writeFact(entry, outcome ?? (isRetried ? earlier?.outcome : undefined), isRetried))
    if (outcome !== undefined) before.set(slot, { digest: entry.digest, outcome })
  }
  return [...newest.values()].toSorted((a, b) => b.at - a.at)
}

function writeFact(intent: IntentEntry, outcome: OutcomeEntry | undefined, isRetried: boolean): WriteFact {
  const { side, op, rule, because, id, at, attempt, needs } = intent
  return {
    side,
    op,
    rule,
    because,
    intentId: id,
    at,
    attempt,
    needs,
    isRetried,
    ...(outcome === undefined ? {} : { outcome: outcomeFact(outcome) }),
  }
}

function outcomeFact(outcome: OutcomeEntry): NonNullable<WriteFact['outcome']> {
  const { result, reason, message, at, stages } = outcome
  const nextTry = nextTryOf(outcome)
  return {
    result,
    at,
    stages,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(nextTry === undefined ? {} : { nextTry }),
  }
}

/** Between when and when it is tried again if nothing else happens. */
function nextTryOf({ result, at, attempt }: OutcomeEntry): { from: number; until: number } | undefined {
  if (result === 'refused') return { from: at, until: at + REFUSED_MS }
  if (result !== 'parked') return undefined
  const delay = (capMs: number): number => backoffDelay({ baseMs: PARKED.baseMs, capMs }, attempt, () => 1)
  return { from: at + delay(PARKED.leastCapMs) / 2, until: at + delay(PARKED.mostCapMs) }
}

/** When somebody other than Causeway last deleted the copy; `undefined` when nobody did. */
export function copyTakenAt(entries: readonly StoryEntry[]): number | undefined {
  const gone = lastDeletion(entries, 'host')
  return gone === undefined || isAskedFor(entries, 'host', gone.at) ? undefined : gone.at
}

/** Who took an object away that neither side has any more: whoever began. */
export function endOf(entries: readonly StoryEntry[]): Facts['ended'] | undefined {
  const gone = lastDeletion(entries, 'virtual')
  if (gone === undefined) return undefined
  const made = entries.findLastIndex(
    (entry) => entry.kind === 'change' && entry.side === 'virtual' && entry.type === 'ADDED' && entry.at < gone.at,
  )
  const began = entries.slice(made + 1).find(isBeginOfEnd)
  const at = new Date(gone.at).toISOString()
  if (began?.kind !== 'intent')
    return { by: 'tenant', at: gone.at, because: `the tenant deleted it; it was gone at ${at}` }
  const who = copyTakenAt(entries) === undefined ? '' : ', which Causeway had not asked for'
  return { by: 'host', at: gone.at, because: `${began.because}${who}, so the tenant’s was deleted at ${at}` }
}

/** Whether an object's end begins here: by us, since its copy goes, or by somebody in the tenant. */
function isBeginOfEnd(entry: StoryEntry): boolean {
  if (entry.side !== 'virtual') return false
  if (entry.kind === 'intent') return entry.op === 'delete' && HOST_RULES.includes(entry.rule)
  if (entry.kind !== 'change') return false
  const isMarked = entry.differences.some(({ path }) => path === 'metadata.deletionTimestamp')
  return entry.type === 'DELETED' || (isMarked && entry.writtenBy === undefined)
}

function lastDeletion(entries: readonly StoryEntry[], side: Side): StoryEntry | undefined {
  return entries.findLast((entry) => entry.kind === 'change' && entry.side === side && entry.type === 'DELETED')
}

/** Whether a deletion on one side follows from an intent of ours, since the object was last made there. */
function isAskedFor(entries: readonly StoryEntry[], side: Side, at: number): boolean {
  const made = entries.findLast(
    (entry) => entry.kind === 'change' && entry.side === side && entry.type === 'ADDED' && entry.at < at,
  )
  return entries.some(
    (entry) =>
      entry.kind === 'intent' &&
      entry.side === side &&
      (entry.op === 'delete' || entry.op === 'replace') &&
      entry.at <= at &&
      entry.at >= (made?.at ?? 0),
  )
}
