import { describe, expect, test } from 'vitest'
import type { Write } from '#libs/events'
import type { Pending } from '#libs/projection'
import type { Decision } from '#libs/translation'
import { type Plan, type PlanContext, plan } from './plan.ts'

const NOW = 1_000_000
const key = { tenant: 'team-a', ref: { resource: 'pods', namespace: 'default', name: 'web' } }
const target = { side: 'host', resource: 'pods', namespace: 'tenant-a', name: 'web-x' } as const
const SLOT = 'host/pods/tenant-a/web-x/patch'

const patch = (body: object = { a: 1 }): Write => ({ op: 'patch', patchType: 'merge', body: { ...body }, uid: 'h1' })
const write = (from: Partial<Extract<Decision, { kind: 'write' }>> = {}): Decision => ({
  kind: 'write',
  target,
  write: patch(),
  rule: 'update',
  needs: [],
  ...from,
})
const conflict = { kind: 'reject', reason: 'NameConflict', message: 'taken' } as const
const unsupported = { kind: 'reject', reason: 'Unsupported', message: 'no' } as const

function planAt(decisions: Decision[], rows: Pending[] = [], context: Partial<PlanContext> = {}): Plan {
  return plan(key, decisions, {
    now: NOW,
    cause: { seq: 7, observedAt: 1, loggedAt: 2, traceparent: 'trace' },
    fence: 3,
    fingerprint: (text) => text,
    generation: 'g1',
    hasSeen: () => false,
    rows,
    ...context,
  })
}

/** The row that asking for a write leaves. */
function rowOf(decision: Decision, change: Partial<Pending> = {}): Pending {
  const [row] = planAt([decision]).puts
  if (row === undefined) throw new Error('nothing was planned')
  return { ...row, ...change }
}

test('a write that is asked for again after an answer has another id, though no change came in between', () => {
  const idAfter = (outcomeSeq?: number): string | undefined => {
    const cause = { seq: 7, observedAt: 1, loggedAt: 2, ...(outcomeSeq === undefined ? {} : { outcomeSeq }) }
    return planAt([write()], [], { cause }).intents[0]?.id
  }
  expect(new Set([undefined, 3, 4].map(idAfter)).size).toBe(3)
  expect(idAfter(3)).toBe(idAfter(3))
})

test('a write that was never asked for becomes an intent and a row', () => {
  const { intents, puts, deletes } = planAt([write({ base: { a: '=1' }, overruled: ['metadata.labels["a"]'] })])
  expect(intents).toMatchObject([
    {
      target: { tenant: 'team-a', ...target },
      source: key.ref,
      causeSeq: 7,
      fence: 3,
      attempt: 0,
      rule: 'update',
      base: { a: '=1' },
      overruled: ['metadata.labels["a"]'],
      traceparent: 'trace',
    },
  ])
  expect(puts).toMatchObject([{ slot: SLOT, state: 'issued', attempt: 0, carriesBase: true, intentId: intents[0]?.id }])
  expect(puts[0]?.due).toBeGreaterThan(NOW)
  expect(deletes).toEqual([])
})

test('ids are equal for the same decision about the same state, whoever decides', () => {
  const idOf = (context: Partial<PlanContext>): string | undefined => planAt([write()], [], context).intents[0]?.id
  expect(idOf({ fence: 4, now: 5 })).toBe(idOf({}))
  expect(idOf({ cause: { seq: 8, observedAt: 1, loggedAt: 2 } })).not.toBe(idOf({}))
})

describe('the same write again', () => {
  test.each([
    ['issued', {}, 'nothing'],
    ['issued', { due: NOW }, 'again'],
    ['done', { due: NOW + 1 }, 'nothing'],
    ['done', { due: NOW + 1, resultVersion: '5' }, 'nothing'],
    ['done', { due: NOW }, 'again'],
    ['settled', { due: NOW + 1 }, 'nothing'],
    ['settled', { due: NOW }, 'again'],
    ['retry', { due: NOW + 1 }, 'nothing'],
    ['retry', { due: NOW }, 'again'],
    ['parked', { due: NOW + 1 }, 'nothing'],
    ['parked', { due: NOW }, 'again'],
  ] as const)('while %s with %j: %s', (state, change, expected) => {
    const row = rowOf(write(), { state, attempt: 2, ...change })
    const { intents, puts, deletes } = planAt([write()], [row])
    expect(deletes).toEqual([])
    expect(intents.map(({ attempt }) => attempt)).toEqual(expected === 'again' ? [3] : [])
    expect(puts.map((put) => [put.state, put.attempt])).toEqual(expected === 'again' ? [['issued', 3]] : [])
  })

  test('whose echo is in and that is still wanted is put off, ever longer', () => {
    const after = (attempt: number): number => {
      const row = rowOf(write(), { state: 'done', attempt, due: NOW + 5, resultVersion: '5' })
      const { puts, intents } = planAt([write()], [row], { hasSeen: (_ref, version) => version === '5' })
      expect(intents).toEqual([])
      expect(puts).toMatchObject([{ state: 'settled' }])
      return (puts[0]?.due ?? 0) - NOW
    }
    expect(after(1)).toBeGreaterThan(after(0))
    expect(after(50)).toBe(60_000)
  })

  test('keeps since when and for what it has waited', () => {
    const row = rowOf(write(), { state: 'parked', reason: 'QuotaExceeded', since: 5, due: NOW })
    expect(planAt([write()], [row]).puts).toMatchObject([{ state: 'issued', reason: 'QuotaExceeded', since: 5 }])
  })

  test('with another proof of the same kind is the same', () => {
    const deletion = (seq: number): Decision =>
      write({ write: { op: 'delete', uid: 'h1', proof: { kind: 'tombstone', seq } } })
    expect(planAt([deletion(9)], [rowOf(deletion(1))]).intents).toEqual([])
  })

  test('whose deletion has been made meanwhile is the same replacement', () => {
    const body = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' } }
    const replacement = (from: { resourceVersion?: string }): Decision =>
      write({ write: { op: 'replace', uid: 'v1', body, copy: { name: 'web-x', uid: 'h1' }, ...from } })
    expect(planAt([replacement({})], [rowOf(replacement({ resourceVersion: '5' }))]).intents).toEqual([])
  })
})

describe('another write of the same slot', () => {
  test.each(['issued', 'done', 'settled', 'retry', 'parked'] as const)('takes the place of one that is %s', (state) => {
    const row = rowOf(write(), { state, attempt: 4 })
    const { intents, puts } = planAt([write({ write: patch({ a: 2 }) })], [row])
    expect(intents).toMatchObject([{ attempt: 0 }])
    expect(puts).toMatchObject([{ slot: SLOT, state: 'issued', attempt: 0 }])
  })
})

describe('a write that is not wanted any more', () => {
  test.each([
    ['issued', { due: NOW + 1 }, 'kept'],
    ['issued', { due: NOW }, 'forgotten'],
    ['done', { due: NOW + 1 }, 'forgotten'],
    ['settled', {}, 'forgotten'],
    ['retry', {}, 'forgotten'],
    ['parked', {}, 'forgotten'],
    ['done', { due: NOW + 1, carriesBase: true, resultVersion: '5' }, 'kept'],
    ['done', { due: NOW, carriesBase: true, resultVersion: '5' }, 'forgotten'],
    ['done', { due: NOW + 1, carriesBase: true, resultVersion: 'seen' }, 'forgotten'],
  ] as const)('and is %s with %j is %s', (state, change, expected) => {
    const row = rowOf(write(), { state, ...change })
    const { deletes, puts, intents } = planAt([], [row], { hasSeen: (_ref, version) => version === 'seen' })
    expect(deletes).toEqual(expected === 'kept' ? [] : [SLOT])
    expect([puts, intents]).toEqual([[], []])
  })
})

describe('two writes that both move the base', () => {
  const toHost = write({ base: {} })
  const toVirtual = write({ base: {}, target: { ...target, side: 'virtual' } })

  test('go one after the other', () => {
    const row = rowOf(toHost)
    expect(planAt([toVirtual], [row]).intents).toEqual([])
    const done = { ...row, state: 'done', due: NOW + 1, resultVersion: '5' } as const
    // Decided twice while the echo is on its way: what is under way must be known both times.
    expect(planAt([toVirtual], [done])).toMatchObject({ intents: [], deletes: [] })
    const seen = planAt([toVirtual], [done], { hasSeen: (ref) => ref.side === 'host' })
    expect(seen.intents).toHaveLength(1)
  })

  test('do not wait for one that is lost', () => {
    expect(planAt([toVirtual], [rowOf(toHost, { due: NOW })]).intents).toHaveLength(1)
  })
})

test('nothing that is due is due at once again, whatever is decided', () => {
  const states = ['issued', 'done', 'settled', 'retry', 'parked', 'waiting'] as const
  const blocking = rowOf(write({ base: {}, target: { ...target, side: 'virtual' } }))
  for (const state of states) {
    for (const carriesBase of [true, false]) {
      for (const decisions of [[], [write()], [write({ base: {} })], [conflict], [unsupported]]) {
        const rows = [rowOf(write(), { state, carriesBase, due: NOW - 5 }), blocking]
        const { puts, deletes } = planAt(decisions, rows)
        const after = new Map(rows.map((row) => [row.slot, row]))
        for (const row of puts) after.set(row.slot, row)
        for (const slot of deletes) after.delete(slot)
        for (const row of after.values()) expect(row.due ?? Infinity).toBeGreaterThan(NOW)
      }
    }
  }
})

describe('waiting', () => {
  test('says what it is for, so that it can be counted and told', () => {
    const refs = [{ resource: 'configmaps', namespace: 'default', name: 'settings' }]
    expect(planAt([{ kind: 'wait', refs, limitMs: 1_000 }]).puts).toMatchObject([
      { state: 'waiting', reason: 'WaitingForReference', message: 'configmaps/settings' },
    ])
  })

  const wait: Decision = { kind: 'wait', refs: [], limitMs: 1_000 }

  test('has a beginning that stays and an end', () => {
    const [row] = planAt([wait]).puts
    expect(row).toMatchObject({ slot: 'wait', state: 'waiting', since: NOW, due: NOW + 1_000 })
    if (row === undefined) return
    expect(planAt([wait], [row], { now: NOW + 400 }).puts).toMatchObject([{ since: NOW, due: NOW + 1_000 }])
  })

  test('ends when there is something to write', () => {
    const row = planAt([wait]).puts
    expect(planAt([write()], row)).toMatchObject({ deletes: ['wait'], intents: [{ attempt: 0 }] })
  })
})

describe('a rejection', () => {
  test('is told once, and again when it is another', () => {
    const { rejected, puts } = planAt([unsupported])
    expect(rejected).toEqual([{ reason: 'Unsupported', message: 'no' }])
    expect(puts).toMatchObject([{ slot: 'reject', state: 'parked', reason: 'Unsupported', since: NOW }])
    expect(planAt([unsupported], puts)).toMatchObject({ rejected: [], puts: [], deletes: [] })
    expect(planAt([{ ...unsupported, message: 'still no' }], puts).rejected).toHaveLength(1)
  })

  test('for a name that is taken is looked at again, without a word', () => {
    const { puts } = planAt([conflict])
    const later = NOW + 60_000
    expect(puts[0]?.due).toBe(later)
    const again = planAt([conflict], puts, { now: later })
    expect(again.rejected).toEqual([])
    expect(again.puts).toMatchObject([{ since: NOW, due: later + 60_000 }])
  })

  test('that is over is forgotten, and the write that follows knows what it waited for', () => {
    const { puts } = planAt([conflict])
    const { deletes, puts: after } = planAt([write()], puts)
    expect(deletes).toEqual(['reject'])
    expect(after).toMatchObject([{ slot: SLOT, reason: 'NameConflict', since: NOW }])
  })
})

test('a status waits for a patch of the same object that changes the base, and for no other', () => {
  const status = write({ write: { ...patch({ status: {} }), subresource: 'status' } as Write })
  const labels = write({ base: { labels: {} } })
  const rules = (plans: Plan): (string | undefined)[] => plans.intents.map((intent) => intent.base && 'base')
  expect(rules(planAt([labels, status]))).toEqual(['base'])
  expect(planAt([status], [rowOf(labels)]).intents).toEqual([])
  expect(planAt([status], [rowOf(labels, { state: 'done', resultVersion: '5' })]).intents).toEqual([])
  const echoed = { hasSeen: () => true, agreed: { base: { labels: {} }, seq: 9 } }
  const [intent] = planAt([status], [rowOf(labels, { state: 'done', resultVersion: '5' })], echoed).intents
  expect(intent?.agreed).toEqual({ base: { labels: {} }, seq: 9 })
  const elsewhere = write({ base: {}, target: { ...target, side: 'virtual' } })
  expect(planAt([status], [rowOf(elsewhere)]).intents).toHaveLength(1)
})

test('the same patch of a later state is the same', () => {
  const versioned = (resourceVersion: string): Decision => write({ write: { ...patch(), resourceVersion } as Write })
  expect(planAt([versioned('6')], [rowOf(versioned('5'))]).intents).toEqual([])
})
