import { keyString } from '#libs/kube-model'
import type { ChangeEntry, StoryEntry } from './story-entry.ts'

const RANK: Readonly<Record<StoryEntry['kind'], number>> = { change: 0, unreadable: 0, intent: 1, outcome: 2 }

/**
 * Entries of several streams in causal order: by the log's clock, and where that of several servers is not quite the
 * same, an intent after the change that led to it, an outcome after its intent. Marks the changes that are echoes of our
 * own writes.
 */
export function inOrder(entries: readonly StoryEntry[]): StoryEntry[] {
  const changes = new Map(entries.flatMap((entry) => (entry.kind === 'change' ? [[entry.seq, entry.at]] : [])))
  const intents = new Map<string, number>()
  for (const entry of entries) {
    if (entry.kind === 'intent') intents.set(entry.id, Math.max(entry.at, changes.get(entry.causeSeq) ?? 0))
  }
  const time = (entry: StoryEntry): number => {
    if (entry.kind === 'intent') return intents.get(entry.id) ?? entry.at
    return entry.kind === 'outcome' ? Math.max(entry.at, intents.get(entry.intentId) ?? 0) : entry.at
  }
  return markEchoes(entries).toSorted((a, b) => time(a) - time(b) || RANK[a.kind] - RANK[b.kind] || a.seq - b.seq)
}

/** Names the intent behind each change whose version is one that a write of ours resulted in. */
function markEchoes(entries: readonly StoryEntry[]): StoryEntry[] {
  const written = new Map<string, string>()
  for (const entry of entries) {
    if (entry.kind !== 'outcome' || entry.result !== 'done' || entry.resourceVersion === undefined) continue
    written.set(`${keyString(entry.object)} ${entry.resourceVersion}`, entry.intentId)
  }
  return entries.map((entry) => {
    if (entry.kind !== 'change') return entry
    const writtenBy = written.get(`${keyString(entry.object)} ${entry.resourceVersion}`) ?? bindingOf(entry, entries)
    return writtenBy === undefined ? entry : { ...entry, writtenBy }
  })
}

/** A binding's answer has no version: its echo is the first change that names a node. */
function bindingOf(change: ChangeEntry, entries: readonly StoryEntry[]): string | undefined {
  if (!change.differences.some(({ path, from }) => path === 'spec.nodeName' && from === undefined)) return undefined
  const bound = entries.findLast(
    (entry) =>
      entry.kind === 'outcome' &&
      entry.op === 'bind' &&
      entry.result === 'done' &&
      entry.startedAt <= change.at &&
      keyString(entry.object) === keyString(change.object),
  )
  return bound?.kind === 'outcome' ? bound.intentId : undefined
}
