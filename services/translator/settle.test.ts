import { describe, expect, test } from 'vitest'
import type { Outcome } from '#libs/events'
import type { Pending } from '#libs/projection'
import { settle } from './settle.ts'

const NOW = 1_000_000
const row: Pending = {
  slot: 's',
  intentId: 'i1',
  digest: 'd',
  attempt: 0,
  state: 'issued',
  carriesBase: true,
  since: 500,
  due: NOW + 60_000,
}
const target = { tenant: 't', side: 'host', resource: 'pods', namespace: 'n', name: 'x' } as const
const outcome = (of: Partial<Outcome>): Outcome => ({
  intentId: 'i1',
  target,
  source: target,
  op: 'patch',
  result: 'done',
  causeSeq: 1,
  fence: 1,
  attempt: 0,
  stages: { observedAt: 0, loggedAt: 0, decidedAt: 0, intentAt: 0, startedAt: 0, finishedAt: 0 },
  ...of,
})
const at = (of: Partial<Outcome>, from: Partial<Pending> = {}, random = 0.5, waiting = 1): Pending | undefined =>
  settle({ ...row, ...from }, outcome(of), { now: NOW, random: () => random, waiting: () => waiting })

test.each([
  ['of no row', undefined, {}],
  ['of an earlier intent', row, { intentId: 'i0' }],
])('an outcome %s settles nothing', (_title, pending, of) => {
  expect(settle(pending, outcome(of), { now: NOW, random: () => 0, waiting: () => 1 })).toBeUndefined()
})

test('done waits for its echo, for a while, and remembers which', () => {
  expect(at({ resourceVersion: '7' })).toEqual({
    ...row,
    state: 'done',
    since: NOW,
    due: NOW + 10_000,
    resultVersion: '7',
  })
  expect(at({})).not.toHaveProperty('resultVersion')
})

test.each(['conflict', 'superseded'] as const)('%s is decided again soon, later each time', (result) => {
  expect(at({ result })).toMatchObject({ state: 'retry', since: NOW })
  const delays = [0, 3, 6, 100].map((attempt) => (at({ result }, { attempt })?.due ?? 0) - NOW)
  expect(delays).toEqual(delays.toSorted((a, b) => a - b))
  expect(delays[0]).toBeGreaterThan(0)
  expect(delays.at(-1)).toBeLessThanOrEqual(5_020)
})

describe('parked', () => {
  const of = { result: 'parked', reason: 'QuotaExceeded', message: 'full' } as const

  test('says why and since when', () => {
    expect(at(of)).toMatchObject({ state: 'parked', reason: 'QuotaExceeded', message: 'full', since: NOW })
  })

  test('again keeps since when it waits', () => {
    expect(at(of, { attempt: 3, reason: 'QuotaExceeded', since: 77 })).toMatchObject({ since: 77 })
  })

  test('after a write that had been done begins to wait now', () => {
    expect(at(of, { attempt: 3, since: 77 })).toMatchObject({ since: NOW })
  })

  test.each([0, 0.999])('is tried again after a time that grows and ends within seconds (random %d)', (random) => {
    const delays = [0, 2, 5, 1_000].map((attempt) => (at(of, { attempt }, random)?.due ?? 0) - NOW)
    expect(delays).toEqual(delays.toSorted((a, b) => a - b))
    expect(delays[0]).toBeGreaterThanOrEqual(1_000)
    expect(delays.at(-1)).toBeLessThanOrEqual(5_000)
  })

  test('is tried the more rarely the more of its tenant waits, in the end every minute', () => {
    const delays = [1, 10, 50, 120, 5_000].map((waiting) => (at(of, { attempt: 9 }, 0.999, waiting)?.due ?? 0) - NOW)
    expect(delays.map((ms) => Math.round(ms / 1_000))).toEqual([5, 5, 25, 60, 60])
  })

  test('with what an earlier state said is overwritten', () => {
    const next = at(
      { result: 'parked', reason: 'Invalid' },
      { reason: 'QuotaExceeded', message: 'old', resultVersion: '1' },
    )
    expect(next).toMatchObject({ reason: 'Invalid' })
    expect(next).not.toHaveProperty('message')
    expect(next).not.toHaveProperty('resultVersion')
  })
})

test('refused is not tried again for long', () => {
  expect(at({ result: 'refused', reason: 'OutsideTenant' })).toMatchObject({ state: 'parked', due: NOW + 600_000 })
})
