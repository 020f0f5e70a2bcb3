import { describe, expect, test } from 'vitest'
import type { ChangeEntry, IntentEntry, OutcomeEntry } from '../story/story-entry.ts'
import { copyTakenAt, endOf, writeFacts } from './write-facts.ts'

const object = { tenant: 'a', side: 'virtual', resource: 'pods', namespace: 'n', name: 'p' } as const
const change = (at: number, side: 'virtual' | 'host', more: Partial<ChangeEntry> = {}): ChangeEntry => ({
  kind: 'change',
  stream: 'CHANGES',
  at,
  seq: at,
  side,
  object: { ...object, side },
  type: 'MODIFIED',
  uid: 'u',
  resourceVersion: String(at),
  observedAt: at,
  isFirst: false,
  differences: [],
  ...more,
})
const intent = (at: number, side: 'virtual' | 'host', more: Partial<IntentEntry> = {}): IntentEntry => ({
  kind: 'intent',
  stream: 'INTENTS',
  at,
  seq: at,
  side,
  object: { ...object, side },
  id: `i${at}`,
  op: 'delete',
  rule: 'hostTerminating',
  because: 'the host is deleting the copy',
  digest: 'd',
  causeSeq: 1,
  needs: [],
  attempt: 0,
  decidedAt: at,
  ...more,
})
const outcome = (at: number, of: IntentEntry, more: Partial<OutcomeEntry> = {}): OutcomeEntry => ({
  kind: 'outcome',
  stream: 'OUTCOMES',
  at,
  seq: at,
  side: of.side,
  object: of.object,
  intentId: of.id,
  op: of.op,
  result: 'done',
  attempt: of.attempt,
  causeSeq: 1,
  stages: { watch: 0, decide: 0, log: 0, queue: 0, api: 0, total: 0 },
  startedAt: at,
  finishedAt: at,
  ...more,
})
const marked = [{ path: 'metadata.deletionTimestamp', to: 'now' }]

describe('whoever began took an object away', () => {
  test('the host, where the copy was deleted there and ours followed', () => {
    const entries = [
      change(1, 'virtual', { type: 'ADDED' }),
      change(2, 'host', { type: 'ADDED' }),
      change(3, 'host', { differences: marked }),
      intent(4, 'virtual'),
      change(5, 'virtual', { differences: marked, writtenBy: 'i4' }),
      change(6, 'host', { type: 'DELETED' }),
      intent(7, 'virtual', { rule: 'virtualTerminating' }),
      change(8, 'virtual', { type: 'DELETED' }),
    ]
    expect(endOf(entries)).toMatchObject({ by: 'host', at: 8, because: expect.stringContaining('had not asked for') })
    expect(copyTakenAt(entries)).toBe(6)
  })

  test('the tenant, where its object went first', () => {
    const entries = [
      change(1, 'virtual', { type: 'ADDED' }),
      change(2, 'host', { type: 'ADDED' }),
      change(3, 'virtual', { differences: marked }),
      intent(4, 'host', { rule: 'virtualTerminating' }),
      change(5, 'host', { differences: marked }),
      intent(6, 'virtual', { rule: 'hostTerminating' }),
      change(7, 'host', { type: 'DELETED' }),
      change(8, 'virtual', { type: 'DELETED' }),
    ]
    expect(endOf(entries)).toMatchObject({ by: 'tenant', at: 8 })
    expect(copyTakenAt(entries)).toBeUndefined()
  })

  test('nobody, where the log knows of no end', () => {
    expect(endOf([change(1, 'virtual', { type: 'ADDED' })])).toBeUndefined()
  })

  test('and an earlier life of the name says nothing', () => {
    const entries = [
      intent(1, 'virtual'),
      change(2, 'virtual', { type: 'DELETED' }),
      change(3, 'virtual', { type: 'ADDED' }),
      change(4, 'virtual', { type: 'DELETED' }),
    ]
    expect(endOf(entries)).toMatchObject({ by: 'tenant', at: 4 })
  })
})

describe('the newest write of each kind', () => {
  const first = intent(1, 'host', { op: 'create', rule: 'create' })
  const refusal = outcome(1_000, first, { result: 'parked', reason: 'QuotaExceeded', message: 'used up' })

  test('tells what the API answered and when it is tried again', () => {
    expect(writeFacts([first, refusal])).toMatchObject([
      {
        op: 'create',
        isRetried: false,
        outcome: { reason: 'QuotaExceeded', message: 'used up', nextTry: { from: 2_000, until: 3_000 } },
      },
    ])
  })

  test('that is tried again keeps the answer of the time before, until there is another', () => {
    const second = intent(2_500, 'host', { op: 'create', rule: 'create', attempt: 1 })
    expect(writeFacts([first, refusal, second])).toMatchObject([
      { attempt: 1, isRetried: true, outcome: { reason: 'QuotaExceeded' } },
    ])
    expect(writeFacts([first, refusal, second, outcome(2_600, second)])).toMatchObject([
      { attempt: 1, isRetried: false, outcome: { result: 'done' } },
    ])
  })

  test('of another content is under way, whatever became of the one before', () => {
    const other = intent(2_500, 'host', { op: 'create', rule: 'create', digest: 'other' })
    const [fact] = writeFacts([first, refusal, other])
    expect(fact).not.toHaveProperty('outcome')
  })

  test('Events that tell the tenant are none', () => {
    expect(writeFacts([intent(1, 'virtual', { op: 'announce', rule: 'announce' })])).toEqual([])
  })
})
