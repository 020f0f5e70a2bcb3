import type { ObjectKey } from '#libs/kube-model'
import { parseSubject, subjectFor } from './subjects.ts'
import {
  ENVELOPE_VERSION,
  EnvelopeError,
  HEADERS,
  type LogMessage,
  type WireMessage,
  encodePayload,
  parsePayload,
  requireHeader,
  requireVersion,
} from './wire.ts'

/** What intents and outcomes have in common on the wire: the target is the subject, the rest is the payload. */
type DecisionRecord = { target: ObjectKey; traceparent?: string }

/** Where and when a record was stored. */
export type Logged = { seq: number; storedAt: number; partition: number }

/**
 * Puts a record in its envelope.
 * @param envelope its message id, and what the type header says of it
 */
export function encodeRecord(
  type: 'intent' | 'outcome',
  record: DecisionRecord,
  envelope: { partition: number; msgId: string; header: string },
): WireMessage {
  const { traceparent, target, ...rest } = record
  const headers: Record<string, string> = {
    [HEADERS.msgId]: envelope.msgId,
    [HEADERS.version]: String(ENVELOPE_VERSION),
    [HEADERS.type]: envelope.header,
  }
  if (traceparent !== undefined) headers[HEADERS.traceparent] = traceparent
  return { subject: subjectFor(type, envelope.partition, target), headers, payload: encodePayload(rest) }
}

/**
 * Reads a record's envelope.
 * @param isBody whether a payload is of the type that the header says; it may be any JSON object
 * @throws EnvelopeError when it is not one of ours or of an unknown version
 */
export function decodeRecord<T extends DecisionRecord>(
  type: 'intent' | 'outcome',
  message: LogMessage,
  isBody: (body: Partial<Omit<T, 'target'>>, header: string) => boolean,
): T & Logged {
  requireVersion(message)
  const { key, partition, type: found } = parseSubject(message.subject)
  if (found !== type || typeof partition !== 'number') {
    throw new EnvelopeError(`message on ${message.subject} is no ${type}`)
  }
  const header = requireHeader(message, HEADERS.type)
  const body = parsePayload(message) as Omit<T, 'target'> | null
  if (typeof body !== 'object' || body === null || !isBody(body, header)) {
    throw new EnvelopeError(`message on ${message.subject} holds no "${header}" ${type}`)
  }
  const traceparent = message.headers[HEADERS.traceparent]
  const { seq, storedAt } = message
  const logged = {
    ...body,
    target: key,
    seq,
    storedAt,
    partition,
    ...(traceparent === undefined ? {} : { traceparent }),
  }
  return logged as unknown as T & Logged
}
