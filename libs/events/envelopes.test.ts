import { describe, expect, test } from 'vitest'
import {
  type Change,
  EnvelopeError,
  HEADERS,
  type Intent,
  type LogMessage,
  type Outcome,
  type WireMessage,
  changeMessageId,
  decodeChange,
  decodeIntent,
  decodeOutcome,
  encodeChange,
  encodeIntent,
  encodeOutcome,
  encodePayload,
} from './index.ts'

const change: Change = {
  type: 'MODIFIED',
  key: { tenant: 'team-a', side: 'virtual', resource: 'pods', namespace: 'default', name: 'web' },
  kind: 'Pod',
  uid: 'u1',
  resourceVersion: '7',
  epoch: 2,
  observedAt: 1_000.25,
}
const object = { metadata: { name: 'web', uid: 'u1' } }
const payload = encodePayload({ type: 'MODIFIED', object })
const intent: Intent = {
  id: 'i1',
  target: { ...change.key, side: 'host' },
  write: { op: 'create', body: object },
  source: { resource: 'pods', namespace: 'default', name: 'web' },
  needs: [],
  causeSeq: 5,
  observedAt: 1,
  loggedAt: 2,
  decidedAt: 3,
  rule: 'create',
  fence: 9,
  attempt: 0,
}
const outcome: Outcome = {
  intentId: 'i1',
  target: intent.target,
  source: intent.source,
  op: 'create',
  result: 'done',
  causeSeq: 5,
  fence: 9,
  attempt: 0,
  stages: { observedAt: 1, loggedAt: 2, decidedAt: 3, intentAt: 4, startedAt: 5, finishedAt: 6 },
}

const logged = (message: WireMessage): LogMessage => ({ ...message, seq: 11, storedAt: 1_700 })
const without = (message: WireMessage, header: string): WireMessage => {
  const { [header]: _dropped, ...headers } = message.headers
  return { ...message, headers }
}
const withHeader = (message: WireMessage, header: string, value: string): WireMessage => ({
  ...message,
  headers: { ...message.headers, [header]: value },
})

const envelopes = [
  ['change', encodeChange(change, { partition: 1, payload }), decodeChange],
  ['intent', encodeIntent(intent, 1), decodeIntent],
  ['outcome', encodeOutcome(outcome, 1), decodeOutcome],
] as const

describe.each(envelopes)('the envelope of %s', (kind, message, decode) => {
  test('of another version is refused with what to do', () => {
    expect(() => decode(logged(withHeader(message, HEADERS.version, '2')))).toThrow(/version 2, .*upgrade this service/)
  })

  test('without a version is refused', () => {
    expect(() => decode(logged(without(message, HEADERS.version)))).toThrow(EnvelopeError)
  })

  test('on a subject of another record is refused', () => {
    const other = kind === 'outcome' ? 'intent' : 'outcome'
    const moved = { ...message, subject: message.subject.replace(kind, other) }
    expect(() => decode(logged(moved))).toThrow(EnvelopeError)
  })

  test('without its type is refused', () => {
    expect(() => decode(logged(without(message, HEADERS.type)))).toThrow(/Causeway-Type/)
  })

  test('keeps the trace, and has none where there was none', () => {
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    expect(decode(logged(withHeader(message, HEADERS.traceparent, trace))).traceparent).toBe(trace)
    expect(decode(logged(message))).not.toHaveProperty('traceparent')
  })
})

describe('a change', () => {
  const message = encodeChange(change, { partition: 1, payload })

  test('comes back as it was, its object parsed when asked for', () => {
    const read = decodeChange(logged(message))
    expect(read).toMatchObject({ ...change, partition: 1, seq: 11, storedAt: 1_700 })
    expect(read.object()).toEqual(object)
  })

  test('has an id that tells tenants, sides, versions and types apart', () => {
    const ids = [
      change,
      { ...change, key: { ...change.key, tenant: 'team-b' } },
      { ...change, key: { ...change.key, side: 'host' as const } },
      { ...change, resourceVersion: '8' },
      { ...change, type: 'DELETED' as const },
      { ...change, type: 'SYNCED' as const },
      { ...change, type: 'SYNCED' as const, epoch: 3 },
    ].map(changeMessageId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test.each([
    ['no JSON', new TextEncoder().encode('{')],
    ['no UTF-8', new Uint8Array([0x22, 0xff, 0x22])],
    ['null', encodePayload(null)],
    ['no object', encodePayload({ type: 'ADDED' })],
    ['an object without metadata', encodePayload({ type: 'ADDED', object: { kind: 'Pod' } })],
    ['metadata that is null', encodePayload({ type: 'ADDED', object: { metadata: null } })],
  ])('whose payload is %s fails when its object is needed, not before', (_title, bytes) => {
    const read = decodeChange(logged({ ...message, payload: bytes }))
    expect(read.uid).toBe('u1')
    expect(() => read.object()).toThrow(EnvelopeError)
  })

  test('with an epoch that is no number is refused', () => {
    expect(() => decodeChange(logged(withHeader(message, HEADERS.epoch, 'x')))).toThrow(/no number/)
  })

  test('may carry how long it is to be kept', () => {
    expect(encodeChange(change, { partition: 1, payload, ttl: '96h' }).headers[HEADERS.ttl]).toBe('96h')
  })
})

test('an intent comes back as it was', () => {
  expect(decodeIntent(logged(encodeIntent(intent, 1)))).toEqual({ ...intent, partition: 1, seq: 11, storedAt: 1_700 })
})

test('an outcome comes back as it was', () => {
  expect(decodeOutcome(logged(encodeOutcome(outcome, 1)))).toEqual({
    ...outcome,
    partition: 1,
    seq: 11,
    storedAt: 1_700,
  })
})

test.each([
  ['an intent', encodeIntent(intent, 1), decodeIntent],
  ['an outcome', encodeOutcome(outcome, 1), decodeOutcome],
])('%s whose body contradicts its header is refused', (_title, message, decode) => {
  for (const body of [null, 'text', {}, { write: null }, { result: 'parked', intentId: 'x' }]) {
    expect(() => decode(logged({ ...message, payload: encodePayload(body) }))).toThrow(EnvelopeError)
  }
})
