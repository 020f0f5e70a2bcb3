import { expect, test } from 'vitest'
import type { ChangeEntry } from '#libs/explain'
import { entryLines } from './entry-lines.ts'

const change: ChangeEntry = {
  kind: 'change',
  stream: 'CHANGES',
  at: Date.parse('2020-01-02T03:04:05.006Z'),
  seq: 1,
  side: 'host',
  object: { tenant: 'a', side: 'host', resource: 'pods', namespace: 'h', name: 'p' },
  type: 'MODIFIED',
  uid: 'u',
  resourceVersion: '7',
  observedAt: 0,
  isFirst: false,
  differences: [{ path: 'spec.nodeName', to: 'n' }],
}

test('shows what has changed below each change, with the day where it is another', () => {
  expect(entryLines({ ...change, writtenBy: 'i' })).toEqual([
    '2020-01-02T03:04:05.006Z  host    MODIFIED  version 7, our own write',
    '                         spec.nodeName: – → "n"',
  ])
})

test('long values are cut, and of many differences the first are shown', () => {
  const differences = Array.from({ length: 20 }, (_, index) => ({ path: `p${index}`, from: 'x'.repeat(500) }))
  const lines = entryLines({ ...change, differences })
  expect(lines.at(-1)).toContain('… and 8 more')
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(150)
})

test('an outcome shows the API’s words, or how long it took', () => {
  const stages = { watch: 1, decide: 2, log: 3, queue: 4, api: 5, total: 15 }
  const outcome = {
    ...change,
    kind: 'outcome',
    stream: 'OUTCOMES',
    intentId: 'i',
    op: 'create',
    attempt: 0,
    causeSeq: 1,
    stages,
    startedAt: 0,
    finishedAt: 0,
  } as const
  expect(entryLines({ ...outcome, result: 'done' })[0]).toMatch(/done +create after 15.0 ms \(watch 1.0,.*API 5.0\)$/)
  expect(entryLines({ ...outcome, result: 'parked', reason: 'QuotaExceeded', message: 'used up' })[0]).toMatch(
    /parked +create – QuotaExceeded: used up$/,
  )
})
