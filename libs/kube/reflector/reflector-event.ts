import type { WatchEventType } from '#libs/kube-model'
import type { ListCause } from './next.ts'
import type { ReflectedObject } from './watch-line.ts'

/** An object by identity: another uid under the same name is another object. */
export type KnownObject = { namespace: string; name: string; uid: string }

/** A change, or an object found by a list. */
export type ObjectEvent = {
  type: WatchEventType
  /** Without `managedFields`. */
  object: ReflectedObject
  /** The watch line `{"type":…,"object":…}` as it came, without `managedFields`; items of lists as `ADDED`. */
  raw: Buffer
  /** When its bytes arrived, in milliseconds since the epoch. */
  observedAt: number
  /** Whether a list brought it: then its `resourceVersion` is no place to resume from. */
  initial: boolean
}

/** Everything before this version has been handed out: a place to resume from on a quiet day. */
export type BookmarkEvent = { type: 'BOOKMARK'; resourceVersion: string }

/** A list is complete; this version is a place to resume from. */
export type ListedEvent = {
  type: 'LISTED'
  resourceVersion: string
  cause: ListCause
  count: number
  /** Known before and absent now. Not proof of deletion: confirm by reading each one live. */
  missing: KnownObject[]
}

/** For readiness and logs. Ready means `watching`. */
export type StateEvent =
  | { type: 'STATE'; state: 'listing'; cause: ListCause }
  | { type: 'STATE'; state: 'watching'; resourceVersion: string }
  | { type: 'STATE'; state: 'backing-off'; message: string; delayMs: number }

export type ReflectorEvent = ObjectEvent | BookmarkEvent | ListedEvent | StateEvent
