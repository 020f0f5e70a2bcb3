import type { OutcomeResult, Reason } from '#libs/events'
import type { JsonObject, ObjectKey, ObjectRef, Side } from '#libs/kube-model'
import type { SyncOfKind } from '../kinds/sync-settings.ts'
import type { StageTimes } from '../story/story-entry.ts'

/** How it stands with an API: by the watcher's word, and by a call just now. */
export type ApiFact = {
  /** `synced`, `listing`, `absent`, `unreachable`, `unauthorized`, `cluster-changed`; `unknown` when nobody has said. */
  state: string
  message: string
  /** Why the call failed that was made just now. */
  problem?: { reason: Reason; message: string }
}

/** One stage of the pipeline, for the partition in question. */
export type ServiceFact = {
  role: 'watcher' | 'watcher-host' | 'translator' | 'writer'
  /** Who works on it; absent when nobody does. */
  owner?: string
  /** Messages that it has not processed. */
  behind: number
  /** Since when the oldest of them has been waiting, ms since the epoch. */
  since?: number
}

/** The last that the log says of an object on one side. */
export type SeenFact = {
  key: ObjectKey
  /** Absent when the log has never had it. */
  last?: { type: 'ADDED' | 'MODIFIED' | 'DELETED'; resourceVersion: string; uid: string; at: number }
  /** Whether a complete list of the kind has been in the log, so that absence means something. */
  isListed: boolean
  /** Why the log's last message about it cannot be read. */
  unreadable?: string
}

/** What an API says of an object just now. */
export type LiveFact =
  | {
      state: 'there'
      uid: string
      resourceVersion: string
      isTerminating: boolean
      isAsSeen: boolean
      phase?: string
      isOurs?: boolean
    }
  | { state: 'absent'; isAsSeen: boolean }
  | { state: 'unknown'; reason: Reason; message: string }

/** A write that is wanted by what is there now. */
export type WantedWrite = {
  side: Side
  op: string
  rule: string
  because: string
  target: ObjectKey
  body?: JsonObject
}

/** The last of the writes that were made, or tried, on one side. */
export type WriteFact = {
  side: Side
  op: string
  rule: string
  because: string
  intentId: string
  /** When it was in the log, ms since the epoch. */
  at: number
  attempt: number
  needs: (ObjectRef & { side: Side })[]
  /** Whether the same write is being tried again, so that the outcome is that of the attempt before. */
  isRetried: boolean
  /** Absent while it is under way for the first time. */
  outcome?: {
    result: OutcomeResult
    reason?: Reason
    /** The API's answer, word for word. */
    message?: string
    at: number
    stages: StageTimes
    /** When it will be tried again, ms since the epoch: between these two. */
    nextTry?: { from: number; until: number }
  }
}

/** What was found out about one object: plain data, from which the verdict follows. */
export type Facts = {
  /** When it was asked, ms since the epoch. */
  askedAt: number
  object: { tenant: string; kind: string; resource: string; namespace: string; name: string }
  tenant: {
    isRegistered: boolean
    partition: number
    hostNamespace?: string
    /** What is wrong with what is registered. */
    problems: string[]
  }
  sync: SyncOfKind
  /** Why the object is kept from the host, where it is. */
  excluded?: { rule: string; because: string; remedy?: string }
  /** Whether the tenant has paused the copy. */
  isPaused: boolean
  apis: Record<Side, ApiFact>
  services: ServiceFact[]
  seen: Record<Side, SeenFact>
  live: Record<Side, LiveFact>
  /** What today's code would do about what is there now. */
  wanted: WantedWrite[]
  /** Why today's code lets it not cross as it is. */
  rejected?: { reason: Reason; message: string }
  /** What it needs to start and is not there. */
  missing: ObjectRef[]
  /** The last writes of each side, the newest first. */
  writes: WriteFact[]
  /** Why the tenant's deletions are stopped, where they are. */
  held?: { since: number; side: Side; waiting: number; contradiction?: string }
  /** That an operator has dropped what waits: when (ms since the epoch), and by whom, where that was said. */
  dropped?: { at: number; by?: string }
  /** When somebody other than Causeway last deleted the copy on the host, ms since the epoch. */
  copyTakenAt?: number
  /** Who took it away, where both sides have none any more. */
  ended?: { by: 'tenant' | 'host'; at: number; because: string }
}
