import { CausewayError } from '#libs/kernel'

/** What goes to the log: everything that machines route by is in the headers, the payload is for those who need it. */
export type WireMessage = {
  subject: string
  headers: Record<string, string>
  payload: Uint8Array
}

/** What comes from the log. */
export type LogMessage = WireMessage & {
  /** Sequence in the stream it was read from. */
  seq: number
  /** When the server stored it, in milliseconds since the epoch. */
  storedAt: number
}

/** Version of the envelope that this code writes. */
export const ENVELOPE_VERSION = 1

/** Names of our headers. `Nats-Msg-Id` makes the server drop doubles; `traceparent` is W3C Trace Context. */
export const HEADERS = {
  msgId: 'Nats-Msg-Id',
  ttl: 'Nats-TTL',
  version: 'Causeway-Version',
  type: 'Causeway-Type',
  kind: 'Causeway-Kind',
  uid: 'Causeway-Uid',
  resourceVersion: 'Causeway-Rv',
  epoch: 'Causeway-Epoch',
  observedAt: 'Causeway-Observed',
  owner: 'Causeway-Owner',
  traceparent: 'traceparent',
  intent: 'Causeway-Intent',
} as const

/** An envelope that this code cannot read: it is parked with this error, never guessed at. */
export class EnvelopeError extends CausewayError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { code: 'EnvelopeInvalid', ...options })
  }
}

/**
 * Checks the envelope's version.
 * @throws EnvelopeError when it is missing or unknown
 */
export function requireVersion(message: Pick<WireMessage, 'subject' | 'headers'>): void {
  const version = message.headers[HEADERS.version]
  if (version === String(ENVELOPE_VERSION)) return
  throw new EnvelopeError(
    version === undefined
      ? `message on ${message.subject} has no ${HEADERS.version} header`
      : `message on ${message.subject} has envelope version ${version}, this build reads ${ENVELOPE_VERSION}: upgrade this service`,
  )
}

/**
 * Reads a header that must be there.
 * @throws EnvelopeError naming the header
 */
export function requireHeader(message: Pick<WireMessage, 'subject' | 'headers'>, name: string): string {
  const value = message.headers[name]
  if (value === undefined) throw new EnvelopeError(`message on ${message.subject} has no ${name} header`)
  return value
}

/**
 * Reads a header that holds a number.
 * @throws EnvelopeError naming the header
 */
export function requireNumber(message: Pick<WireMessage, 'subject' | 'headers'>, name: string): number {
  const text = requireHeader(message, name)
  const value = Number(text)
  if (text === '' || !Number.isFinite(value)) {
    throw new EnvelopeError(`message on ${message.subject} has ${name} "${text}", which is no number`)
  }
  return value
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses a payload as JSON.
 * @throws EnvelopeError when it is not UTF-8 or not JSON
 */
export function parsePayload(message: Pick<WireMessage, 'subject' | 'payload'>): unknown {
  try {
    return JSON.parse(decoder.decode(message.payload)) as unknown
  } catch (error) {
    throw new EnvelopeError(`message on ${message.subject} has a payload that is not JSON`, { cause: error })
  }
}

/** Serialises a value as a payload. */
export function encodePayload(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value))
}
