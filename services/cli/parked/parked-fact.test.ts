import { expect, test } from 'vitest'
import type { Explanation, Facts, WriteFact } from '#libs/explain'
import { parkedFact, parkedFactLines } from './parked-fact.ts'

const stages = { watch: 0, decide: 0, log: 0, queue: 0, api: 0, total: 0 }
const write: WriteFact = {
  side: 'host',
  op: 'create',
  rule: 'create',
  because: 'wanted',
  intentId: 'i',
  at: 5_000,
  attempt: 2,
  needs: [],
  isRetried: false,
  outcome: {
    result: 'parked',
    reason: 'QuotaExceeded',
    message: 'exceeded quota: small',
    at: 6_000,
    stages,
    nextTry: { from: 8_000, until: 66_000 },
  },
}
const told = { reason: 'QuotaExceeded', since: 1_000 }

function asked(changes: Partial<Facts> = {}, isInSync = false): Pick<Explanation, 'verdict' | 'facts'> {
  const object = { tenant: 'a', kind: 'Service', resource: 'services', namespace: 'shop', name: 'api' }
  return {
    verdict: { reason: isInSync ? 'InSync' : 'QuotaExceeded', isInSync, summary: 'both sides agree' },
    facts: { object, writes: [write], missing: [], ...changes } as Facts,
  }
}

const lines = (of: ReturnType<typeof asked>, known?: typeof told): string =>
  parkedFactLines(of, parkedFact(of, known)).join('\n')

test('of a write that waits: the words of the API, since when, tries so far, the next one, what to do', () => {
  const text = lines(asked(), told)
  expect(text).toMatch(
    /^Service shop\/api of tenant a waits\n +reason +QuotaExceeded\n +answer +exceeded quota: small\n/,
  )
  expect(text).toMatch(/since +1970-01-01T00:00:01.000Z\n +attempts +3\n +next try +by 1970-01-01T00:01:06.000Z/)
  expect(text).toMatch(/remedy +raise the quota/)
})

test('of one that is dropped there is no next try', () => {
  const text = lines(asked({ dropped: { at: 9_000, by: 'ann' } }), told)
  expect(text).toMatch(/next try +none, dropped 1970-01-01T00:00:09.000Z by ann: when it changes/)
})

test('of what is not decided to be written: why, what is missing, and that it is judged again', () => {
  const rejected = { reason: 'UnknownClass', message: 'no class "gold"' } as const
  const missing = [{ resource: 'configmaps', namespace: 'shop', name: 'late' }]
  const text = lines(asked({ rejected, missing, writes: [] }))
  expect(text).toMatch(/reason +UnknownClass\n +answer +no class "gold"\n +next try +judged again/)
  expect(text).toMatch(/missing +configmaps\/late/)
})

test('what is in sync, or stands still for another cause, waits for nothing', () => {
  expect(parkedFact(asked({}, true), told)).toEqual({ isParked: false })
  expect(parkedFact(asked({ writes: [] }), undefined)).toEqual({ isParked: false })
  expect(lines(asked({}, true))).toBe('Service shop/api of tenant a waits for nothing: InSync, both sides agree')
})
