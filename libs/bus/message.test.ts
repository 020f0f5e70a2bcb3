import { headers } from '@nats-io/nats-core'
import { describe, expect, test } from 'vitest'
import { decodeHeaders, encodeHeaders, originOf, parseDelivery } from './message.ts'

describe('the reply subject of a message', () => {
  test('tells sequences, time and what waits, in the first form', () => {
    expect(parseDelivery('$JS.ACK.CHANGES.reader-1.1.4711.12.1796000000123456789.34')).toEqual({
      streamSeq: 4711,
      consumerSeq: 12,
      storedAt: expect.closeTo(1_796_000_000_123.457, 2),
      pending: 34,
    })
  })

  test('tells the same in the form with domain and account, with and without a last token', () => {
    const expected = { streamSeq: 7, consumerSeq: 3, storedAt: 1_000, pending: 0 }
    expect(parseDelivery('$JS.ACK._.hash.CHANGES.reader-1.1.7.3.1000000000.0')).toEqual(expected)
    expect(parseDelivery('$JS.ACK.hub.hash.CHANGES.reader-1.1.7.3.1000000000.0.token')).toEqual(expected)
  })

  test('is none of a delivery when it is anything else', () => {
    for (const reply of [undefined, '', '_INBOX.x.y', '$JS.ACK.CHANGES.short'])
      expect(parseDelivery(reply)).toBeUndefined()
  })
})

describe('headers', () => {
  test('are encoded as the client does it', () => {
    const own = headers()
    own.set('Nats-Msg-Id', 'team-a/virtual/ü/1/ADDED')
    own.set('traceparent', '00-1-2-01')
    const record = { 'Nats-Msg-Id': 'team-a/virtual/ü/1/ADDED', traceparent: '00-1-2-01' }
    const encode = (hdrs: unknown) => new TextDecoder().decode((hdrs as { encode(): Uint8Array }).encode())
    expect(encode(encodeHeaders(record))).toBe(encode(own))
    expect(decodeHeaders(own)).toEqual(record)
  })

  test('cannot be smuggled in by a value with a line break', () => {
    expect(() => encodeHeaders({ Uid: 'a\r\nNats-Rollup: all' })).toThrow(/"Uid" has a line break/)
  })
})

test('the origin of a sourced message is its stream and sequence there', () => {
  const of = (source: string) => originOf({ headers: { 'Nats-Stream-Source': source } })
  expect(of('CHANGES 4711 > > change.1.a')).toEqual({ stream: 'CHANGES', seq: 4711 })
  expect(of('CHANGES:Xy12 4711 > > change.1.a')).toEqual({ stream: 'CHANGES', seq: 4711 })
  expect(originOf({ headers: {} })).toBeUndefined()
})
