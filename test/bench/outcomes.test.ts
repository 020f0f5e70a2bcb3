import { expect, test } from 'vitest'
import type { LoggedOutcome } from '#libs/events'
import { countWrites, stageTimes, writeName } from './outcomes.ts'

function outcome(overrides: Partial<LoggedOutcome>): LoggedOutcome {
  return {
    intentId: 'a/host/pods/causeway-a/p/create/x/1/0',
    target: { tenant: 'a', side: 'host', resource: 'pods', namespace: 'causeway-a', name: 'p' },
    source: { resource: 'pods', namespace: 'default', name: 'p' },
    op: 'create',
    result: 'done',
    causeSeq: 1,
    fence: 1,
    attempt: 0,
    stages: { observedAt: 10, loggedAt: 11, decidedAt: 13, intentAt: 16, startedAt: 20, finishedAt: 30 },
    seq: 1,
    storedAt: 31,
    partition: 0,
    ...overrides,
  }
}

const virtual = { tenant: 'a', side: 'virtual', resource: 'pods', namespace: 'default', name: 'p' } as const

test('writes are told apart by operation, side and subresource', () => {
  expect(writeName(outcome({}))).toBe('create on the host')
  expect(writeName(outcome({ op: 'bind', target: virtual }))).toBe('binding')
  const intentId = 'a/virtual/pods/default/p/patch-status/x/1/0'
  expect(writeName(outcome({ op: 'patch', target: virtual, intentId }))).toBe('status')
  expect(writeName(outcome({ op: 'patch', target: virtual }))).toBe('other: patch pods (virtual)')
  const namespace = { ...virtual, resource: 'namespaces' }
  expect(writeName(outcome({ target: namespace }))).toBe('other: create namespaces (virtual)')
})

test('our own share of a write ends where the call begins', () => {
  const stages = stageTimes([outcome({}), outcome({ result: 'parked' })]).get('create on the host')
  expect(stages?.own).toMatchObject({ count: 1, p50: 10 })
  expect(stages?.['API call']).toMatchObject({ count: 1, p50: 10 })
  expect(stages?.queued).toMatchObject({ p50: 4 })
})

test('writes that were not done are counted apart, with their reason', () => {
  const counts = countWrites([outcome({}), outcome({}), outcome({ result: 'parked', reason: 'Forbidden' })])
  expect(Object.fromEntries(counts)).toEqual({
    'create on the host': 2,
    'create on the host (parked Forbidden)': 1,
  })
})
