import type { JsonObject, ObjectKey, ObjectRef } from '#libs/kube-model'
import type { Agreement, Write } from './intent.ts'
import { type Logged, decodeRecord, encodeRecord } from './decision-record.ts'
import type { LogMessage, WireMessage } from './wire.ts'

/** What became of an intent. */
export type OutcomeResult =
  /** The write is made, or had been made already. */
  | 'done'
  /** A newer intent for the same target took its place before it was carried out. */
  | 'superseded'
  /** The object changed meanwhile: decide again from the newer state. */
  | 'conflict'
  /** It waits for something that `reason` names, and is decided again when that happens or at its next try. */
  | 'parked'
  /** It must never be carried out; `reason` says which rule forbids it. */
  | 'refused'

/**
 * Why an intent is parked or refused: a closed set, used as a metric label, in Events and by the CLI. The meaning and
 * the remedy of each are in docs/reasons.md.
 */
export const REASONS = [
  'ForeignObject',
  'NameConflict',
  'QuotaExceeded',
  'AdmissionDenied',
  'PolicyRejected',
  'UnknownClass',
  'CrdMissing',
  'DefinitionDiffers',
  'ReferenceNotPermitted',
  'WaitingForDNS',
  'TokenRefused',
  'Forbidden',
  'Invalid',
  'NamespaceMissing',
  'NamespaceTerminating',
  'ApiUnavailable',
  'Unauthorized',
  'OutsideTenant',
  'StillPresent',
  'MassDeletion',
  'Unsupported',
  'PatchLoop',
  'PoisonMessage',
] as const

export type Reason = (typeof REASONS)[number]

/** What became of an intent, with what the translator needs to go on from it. */
export type Outcome = {
  intentId: string
  target: ObjectKey
  source: ObjectRef
  /** As the intent's. */
  sourceUid?: string
  op: Write['op']
  result: OutcomeResult
  reason?: Reason
  /** The API's answer, word for word. */
  message?: string
  /** The object after the write, as the API answered. */
  uid?: string
  resourceVersion?: string
  causeSeq: number
  fence: number
  attempt: number
  /** Stage times, ms since the epoch: watch event in hand, stored, decided, stored as intent, write begun, answered. */
  stages: {
    observedAt: number
    loggedAt: number
    decidedAt: number
    intentAt: number
    startedAt: number
    finishedAt: number
  }
  base?: JsonObject
  /** As the intent's: where the tenant's change went over one of the host's. */
  overruled?: string[]
  agreed?: Agreement
  traceparent?: string
}

export type LoggedOutcome = Outcome & Logged

/** Puts an outcome in its envelope. */
export function encodeOutcome(outcome: Outcome, partition: number): WireMessage {
  const { intentId, result } = outcome
  return encodeRecord('outcome', outcome, { partition, msgId: `${intentId}/${result}`, header: result })
}

/**
 * Reads an outcome's envelope.
 * @throws EnvelopeError when it is not one of ours or of an unknown version
 */
export function decodeOutcome(message: LogMessage): LoggedOutcome {
  const isOutcome = (body: Partial<Outcome>, result: string): boolean =>
    body.result === result && typeof body.intentId === 'string'
  return decodeRecord<Outcome>('outcome', message, isOutcome)
}
