import { expect, test } from 'vitest'
import type { LogMessage } from '#libs/events'
import { outcomeOf, poisonOutcome, withoutQuotes } from './outcome-of.ts'
import { done, parked } from './result.ts'
import { intentOf, writes } from './testing/intents.ts'

const times = { startedAt: 2_000, finishedAt: 2_010 }

test('carries over what the translator goes on from', () => {
  const intent = intentOf(writes.create(), { base: { a: '1' }, traceparent: '00-a-b-00', attempt: 3 })
  expect(outcomeOf(intent, done({ uid: 'u', resourceVersion: '7' }), times)).toEqual({
    intentId: intent.id,
    target: intent.target,
    source: intent.source,
    op: 'create',
    result: 'done',
    uid: 'u',
    resourceVersion: '7',
    causeSeq: 1,
    fence: 1,
    attempt: 3,
    stages: { observedAt: 1_000, loggedAt: 1_001, decidedAt: 1_002, intentAt: 1_003, ...times },
    base: { a: '1' },
    traceparent: '00-a-b-00',
  })
})

test('says at which places the tenant’s change went over the host’s', () => {
  const overruled = ['metadata.labels["team"]']
  expect(outcomeOf(intentOf(writes.create(), { overruled }), done({}), times)).toMatchObject({ overruled })
})

test('cuts endless answers', () => {
  const outcome = outcomeOf(intentOf(writes.create()), parked('Invalid', 'x'.repeat(1_000_000)), times)
  expect(outcome.message).toHaveLength(2_048)
})

test('keeps no answer that may quote an object whose data is sealed', () => {
  const settled = parked('Invalid', 'Secret "x" is invalid: data[a b]: Invalid value: "czNjcjN0"')
  expect(JSON.stringify(withoutQuotes(settled))).not.toContain('czNjcjN0')
  const harmless = parked('QuotaExceeded', 'exceeded quota: q')
  expect(withoutQuotes(harmless)).toEqual(harmless)
})

const message = (subject: string): LogMessage => ({
  subject,
  headers: { 'Nats-Msg-Id': 'id-1' },
  payload: new Uint8Array(),
  seq: 5,
  storedAt: 1_500,
})

test('a message that cannot be read is parked under its own id and subject', () => {
  expect(poisonOutcome(message('intent.0.team-a.host.pods.cw-team-a.web'), 'no JSON', 2_000)).toMatchObject({
    intentId: 'id-1',
    target: { tenant: 'team-a', side: 'host', resource: 'pods', namespace: 'cw-team-a', name: 'web' },
    result: 'parked',
    reason: 'PoisonMessage',
    message: 'no JSON',
  })
})

test('one whose subject cannot be read either has no outcome', () => {
  expect(poisonOutcome(message('intent.0.x'), 'no JSON', 2_000)).toBeUndefined()
})
