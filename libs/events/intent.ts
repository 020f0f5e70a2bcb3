import type { JsonObject, KubeObject, ObjectKey, ObjectRef, Side } from '#libs/kube-model'
import { type Logged, decodeRecord, encodeRecord } from './decision-record.ts'
import type { LogMessage, WireMessage } from './wire.ts'

/** How a patch body is to be read (Kubernetes API concepts, "Patch"). */
export type PatchType = 'merge' | 'strategic' | 'json'

/** What makes a deletion right: without one of these nothing is deleted. */
export type DeleteProof =
  /** The counterpart's deletion is in the log, at this sequence of CHANGES. */
  | { kind: 'tombstone'; seq: number }
  /** The counterpart is in the log and asks for it: it is terminating, replaced, or no longer uses the object. */
  | { kind: 'state'; seq: number }
  /**
   * The writer must read the counterpart live and not find it (or find another uid) before it deletes. With `listed`,
   * the deletion is one that speaks for many: the API's list must say the same, and be of no earlier version than the
   * last that was seen of the counterpart.
   */
  | { kind: 'confirm-absent'; counterpart: ObjectKey; uid?: string; listed?: { notBefore?: string } }

/** Parts of an object that are patched on their own; the latter two are of pods. */
export type Subresource = 'status' | 'resize' | 'ephemeralcontainers'

/**
 * Tokens of the tenant's API that a pod mounts. They are only named here: the writer asks for them, for the pod that is
 * the intent's source, and keeps them in a Secret next to its copy, which is there before the copy.
 */
export type PodTokens = {
  /** Name of the Secret. */
  secret: string
  /** ServiceAccount of the tenant that they are of. */
  serviceAccount: string
  /** The tenant's pod that they are bound to. */
  podUid: string
  /** Key in the Secret, and what is asked for; the API's defaults where it is not said. */
  items: { key: string; audience?: string; expirationSeconds?: number }[]
}

/** The write itself. A `uid` is a precondition: the API refuses the write when the object has another one. */
export type Write =
  | { op: 'create'; body: KubeObject; tokens?: PodTokens }
  | {
      op: 'patch'
      patchType: PatchType
      body: JsonObject | JsonObject[]
      uid: string
      /** A precondition as well, where the patch is right for no other state of the object. */
      resourceVersion?: string
      subresource?: Subresource
    }
  | { op: 'bind'; node: string; uid: string }
  | { op: 'delete'; uid: string; resourceVersion?: string; gracePeriodSeconds?: number; proof: DeleteProof }
  /**
   * Makes a tenant's object anew because fields that cannot be changed must change: the one with this `uid` is deleted,
   * in no other state than `resourceVersion`, and `body` created. In between, `copy`, its host copy, keeps the body.
   * Without `resourceVersion` nothing is deleted: what the copy says of a replacement is brought to its end.
   */
  | { op: 'replace'; body: KubeObject; uid: string; resourceVersion?: string; copy: { name: string; uid: string } }
  /** An Event on a tenant's object: created, or its count raised. */
  | { op: 'announce'; body: KubeObject }

/** A write by its kind, as tables and metrics name it: `patch/status` is a patch of the status subresource. */
export type WriteName = Write['op'] | `patch/${Subresource}`

/** @see WriteName */
export function writeName(write: Write): WriteName {
  return write.op === 'patch' && write.subresource !== undefined ? `patch/${write.subresource}` : write.op
}

/** An object of the intent's tenant on one side. */
export type SidedRef = ObjectRef & { side: Side }

/** One write to be made on one side, with the change that caused it. */
export type Intent = {
  /** Equal for the same decision about the same state, so that a repeat after a crash is dropped. */
  id: string
  target: ObjectKey
  write: Write
  /** The virtual object that this is about. */
  source: ObjectRef
  /** The uid of that object, of what is written to its copy: known to the outcome, it tells whose the copy is. */
  sourceUid?: string
  /** Targets whose earlier intents must be settled before this one is carried out. */
  needs: SidedRef[]
  /** Sequence in CHANGES of the change that led to the decision. */
  causeSeq: number
  /** When the watcher had that change in hand, ms since the epoch. */
  observedAt: number
  /** When the server stored that change, ms since the epoch. */
  loggedAt: number
  /** When the decision was made, ms since the epoch. */
  decidedAt: number
  /** Why, as a rule's name of docs/architecture.md. */
  rule: string
  /** Lease revision of the translator that decided. */
  fence: number
  /** How often the same write has been asked for before. */
  attempt: number
  /** What decided, `<resource>/<version>`: explains a replay whose decisions differ today. */
  translator?: string
  /** Values that both sides agree on once this write is done: what three-way merges start from. */
  base?: JsonObject
  /** Paths that both sides had changed since they last agreed: this write puts the tenant's value there. */
  overruled?: string[]
  agreed?: Agreement
  traceparent?: string
}

/**
 * What both sides were known to agree on when an intent was decided, by the outcome with this sequence. STATE keeps one
 * outcome for each target: the one that follows carries on what it displaces.
 */
export type Agreement = { base: JsonObject; seq: number }

/** An intent as read from the log. */
export type LoggedIntent = Intent & Logged

/** Puts an intent in its envelope. */
export function encodeIntent(intent: Intent, partition: number): WireMessage {
  return encodeRecord('intent', intent, { partition, msgId: intent.id, header: intent.write.op })
}

/**
 * Reads an intent's envelope.
 * @throws EnvelopeError when it is not one of ours or of an unknown version
 */
export function decodeIntent(message: LogMessage): LoggedIntent {
  return decodeRecord<Intent>('intent', message, ({ write }, op) => write?.op === op)
}
