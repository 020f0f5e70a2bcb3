import type { Msg, MsgHdrs } from '@nats-io/nats-core'
import type { LogMessage } from '#libs/events'
import { BusError } from './errors.ts'

const encoder = new TextEncoder()

/**
 * Headers in wire form. The client does nothing but encode what it is given, so one string does: its own header type
 * costs a map, arrays and a canonical form per header, several times as much as all else in a publish.
 * @throws BusError `MessageInvalid` for a value that would end the header
 */
export function encodeHeaders(headers: Readonly<Record<string, string>>): MsgHdrs {
  let text = 'NATS/1.0\r\n'
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (/[\r\n]/.test(value) || /[\r\n:]/.test(name)) {
      throw new BusError(`header ${JSON.stringify(name)} has a line break in it`, { code: 'MessageInvalid' })
    }
    text += `${name}: ${value}\r\n`
  }
  const bytes = encoder.encode(`${text}\r\n`)
  return { encode: () => bytes } as unknown as MsgHdrs
}

/** Headers as a record; of a repeated one, the first. */
export function decodeHeaders(headers: MsgHdrs | undefined): Record<string, string> {
  const record: Record<string, string> = {}
  if (headers !== undefined) for (const [name, values] of headers) record[name] = values[0] ?? ''
  return record
}

/** What a message's reply subject says about its delivery. */
export type Delivery = {
  streamSeq: number
  consumerSeq: number
  /** When the server stored it, in milliseconds since the epoch. */
  storedAt: number
  /** How many messages that match were waiting behind it. */
  pending: number
}

/**
 * Reads `$JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<time>.<pending>`, or its newer form with
 * domain and account before the stream and possibly one token more. Undefined for any other subject.
 */
export function parseDelivery(reply: string | undefined): Delivery | undefined {
  if (reply === undefined || !reply.startsWith('$JS.ACK.')) return undefined
  const tokens = reply.split('.')
  const first = tokens.length === 9 ? 5 : tokens.length >= 11 ? 7 : -1
  if (first < 0) return undefined
  return {
    streamSeq: Number(tokens[first]),
    consumerSeq: Number(tokens[first + 1]),
    storedAt: Number(tokens[first + 2]) / 1e6,
    pending: Number(tokens[first + 3]),
  }
}

/** A message of the log from its wire form. */
export function toLogMessage(message: Msg, delivery: Delivery): LogMessage {
  return {
    subject: message.subject,
    headers: decodeHeaders(message.headers),
    payload: message.data,
    seq: delivery.streamSeq,
    storedAt: delivery.storedAt,
  }
}

/** Where a message of a sourced stream came from: stream and sequence there. Undefined for one that was published. */
export function originOf(message: Pick<LogMessage, 'headers'>): { stream: string; seq: number } | undefined {
  const source = message.headers['Nats-Stream-Source']
  if (source === undefined) return undefined
  const [stream = '', seq] = source.split(' ')
  // With a domain the name is followed by ":" and a hash.
  return { stream: stream.split(':')[0] ?? '', seq: Number(seq) }
}
