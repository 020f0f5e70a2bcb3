import type { KubeObject, ObjectKey, Side, WatchEventType } from '#libs/kube-model'
import type { Partition } from './partition.ts'
import { parseSubject, subjectFor } from './subjects.ts'
import { NO_NAMESPACE } from './tokens.ts'
import {
  ENVELOPE_VERSION,
  EnvelopeError,
  HEADERS,
  type LogMessage,
  type WireMessage,
  parsePayload,
  requireHeader,
  requireNumber,
  requireVersion,
} from './wire.ts'

/** A watch event, or `SYNCED`: the marker that closes a list, after which absence means something. */
export type ChangeType = WatchEventType | 'SYNCED'

/** The name token of markers. No object can have it: Kubernetes names contain no `_`. */
export const MARKER_NAME = '_synced'

/**
 * A filter that matches all markers of one side, whatever their resource and tenant.
 * @param partition those of a partition's tenants only. @default those of all
 */
export function markersFilter(side: Side, partition?: number): string {
  return `change.${partition ?? '*'}.*.${side}.*.${NO_NAMESPACE}.${MARKER_NAME}`
}

/** One observed state of an object on one side, or its deletion. */
export type Change = {
  type: ChangeType
  key: ObjectKey
  kind: string
  uid: string
  resourceVersion: string
  /** Grows with every list that started the watch afresh. */
  epoch: number
  /** When the watcher had the event in hand, in milliseconds since the epoch. */
  observedAt: number
  /** W3C Trace Context of this change. */
  traceparent?: string
  /**
   * Uid of the tenant's registration that the watch was for: tells a tenant from an earlier one of its name. Absent for
   * what concerns all tenants, and in changes of versions before it.
   */
  owner?: string
}

/** A change as read from the log, its object still unparsed. */
export type LoggedChange = Change & {
  seq: number
  storedAt: number
  partition: Partition
  /**
   * Parses the object. Call it where the object is needed: most readers need the headers only.
   * @throws EnvelopeError when the payload is no watch event
   */
  object(): KubeObject
}

/**
 * The message id of a change, by which the server drops doubles: a change sent twice after a crash is stored once. It
 * begins with the tenant, since a tenant's API may choose uids as it likes and must not be able to hide another's. It
 * ends with the registration, since what was sent for an earlier one of the name is to be sent again.
 */
export function changeMessageId(change: Change): string {
  const id = `${change.key.tenant}/${change.key.side}/${change.uid}/${change.resourceVersion}/${change.type}`
  const whole = change.type === 'SYNCED' ? `${id}/${change.key.resource}/${change.epoch}` : id
  return change.owner === undefined ? whole : `${whole}/${change.owner}`
}

/**
 * Puts a change in its envelope.
 * @param payload the watch event as received, `{"type":…,"object":…}`
 */
export function encodeChange(
  change: Change,
  options: { partition: Partition; payload: Uint8Array; ttl?: string },
): WireMessage {
  const headers: Record<string, string> = {
    [HEADERS.msgId]: changeMessageId(change),
    [HEADERS.version]: String(ENVELOPE_VERSION),
    [HEADERS.type]: change.type,
    [HEADERS.kind]: change.kind,
    [HEADERS.uid]: change.uid,
    [HEADERS.resourceVersion]: change.resourceVersion,
    [HEADERS.epoch]: String(change.epoch),
    [HEADERS.observedAt]: change.observedAt.toFixed(3),
  }
  if (change.traceparent !== undefined) headers[HEADERS.traceparent] = change.traceparent
  if (change.owner !== undefined) headers[HEADERS.owner] = change.owner
  if (options.ttl !== undefined) headers[HEADERS.ttl] = options.ttl
  return { subject: subjectFor('change', options.partition, change.key), headers, payload: options.payload }
}

/**
 * Reads a change's envelope.
 * @throws EnvelopeError when it is not one of ours or of an unknown version
 */
export function decodeChange(message: LogMessage): LoggedChange {
  requireVersion(message)
  const { key, partition, type: recordType } = parseSubject(message.subject)
  const type = requireHeader(message, HEADERS.type)
  if (recordType !== 'change' || !isChangeType(type)) {
    throw new EnvelopeError(`message on ${message.subject} is no change: ${HEADERS.type} is "${type}"`)
  }
  const traceparent = message.headers[HEADERS.traceparent]
  const owner = message.headers[HEADERS.owner]
  return {
    type,
    key,
    partition,
    seq: message.seq,
    storedAt: message.storedAt,
    kind: requireHeader(message, HEADERS.kind),
    uid: requireHeader(message, HEADERS.uid),
    resourceVersion: requireHeader(message, HEADERS.resourceVersion),
    epoch: requireNumber(message, HEADERS.epoch),
    observedAt: requireNumber(message, HEADERS.observedAt),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(owner === undefined ? {} : { owner }),
    object: () => objectOf(message),
  }
}

function objectOf(message: LogMessage): KubeObject {
  const event = parsePayload(message) as { object?: KubeObject } | null
  const object = event?.object
  const metadata: unknown = object?.metadata
  if (typeof object !== 'object' || typeof metadata !== 'object' || metadata === null) {
    throw new EnvelopeError(`message on ${message.subject} holds no watch event with an object`)
  }
  return object
}

function isChangeType(type: string): type is ChangeType {
  return type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED' || type === 'SYNCED'
}
