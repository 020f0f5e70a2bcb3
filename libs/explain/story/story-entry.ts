import type { OutcomeResult, PatchType, Reason, SidedRef, WriteName } from '#libs/events'
import type { Json, JsonObject, KubeObject, ObjectKey, Side } from '#libs/kube-model'
import type { Difference } from './differences.ts'

/** What all entries have in common. */
type Logged = {
  /** When the log's server stored it, ms since the epoch. */
  at: number
  /** Sequence in its stream. */
  seq: number
  /** The side that it is about. */
  side: Side
  object: ObjectKey
  /** W3C Trace Context that links it to the change it follows from. */
  traceparent?: string
}

/** A state of the object on one side, or its end. */
export type ChangeEntry = Logged & {
  kind: 'change'
  stream: 'CHANGES'
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  uid: string
  resourceVersion: string
  /** When the watcher had it in hand, ms since the epoch. */
  observedAt: number
  /** Whether the log holds no earlier state of this side, so that there is nothing to compare with. */
  isFirst: boolean
  /** What is other than in the state before, of the same side; of Secrets lengths and fingerprints only. */
  differences: Difference[]
  /** The whole state, values hidden, where `states` was asked for. */
  state?: KubeObject
  /** The intent whose write this is the echo of; absent when somebody else made the change. */
  writtenBy?: string
}

/** A write that was decided on. */
export type IntentEntry = Logged & {
  kind: 'intent'
  stream: 'INTENTS'
  id: string
  op: WriteName
  /** The rule that led to it, and what it means in words. */
  rule: string
  because: string
  /** What the write is known by: equal for the same write asked for again. */
  digest: string
  /** Sequence in CHANGES of the change that led to it. */
  causeSeq: number
  /** What had to be settled first. */
  needs: SidedRef[]
  attempt: number
  decidedAt: number
  /** `<resource>/<version>` of what decided. */
  translator?: string
  /** What is sent, values hidden; not for creates, whose body is the object itself. */
  sent?: { patchType?: PatchType; body?: JsonObject | Json[]; node?: string; proof?: JsonObject; message?: string }
}

/** Milliseconds that each stage took: watch event → log → decision → intent stored → write begun → answered. */
export type StageTimes = { watch: number; decide: number; log: number; queue: number; api: number; total: number }

/** What became of a write. */
export type OutcomeEntry = Logged & {
  kind: 'outcome'
  stream: 'OUTCOMES'
  intentId: string
  op: string
  result: OutcomeResult
  reason?: Reason
  /** The API's answer, word for word. */
  message?: string
  attempt: number
  causeSeq: number
  resourceVersion?: string
  stages: StageTimes
  /** When the change that led to it was in hand, and when the API answered; ms since the epoch. */
  startedAt: number
  finishedAt: number
}

/** A message about the object that this build cannot read. */
export type UnreadableEntry = Logged & {
  kind: 'unreadable'
  stream: 'CHANGES' | 'INTENTS' | 'OUTCOMES'
  problem: string
}

/** One entry of an object's story. */
export type StoryEntry = ChangeEntry | IntentEntry | OutcomeEntry | UnreadableEntry

/** What the log holds about one object, both sides, in causal order. */
export type Story = {
  entries: StoryEntry[]
  /** Whether the history no longer reaches back to the beginning of the log. */
  isCut: boolean
}
