import { expect, test } from 'vitest'
import { waitingLines, waitingSummary } from './waiting.ts'

const pod = { resource: 'pods', namespace: 'default', name: 'web', reason: 'QuotaExceeded', since: 0 }
const counts = { CrdMissing: 1, QuotaExceeded: 2 }

test('what waits is summed up by reason, the most frequent first', () => {
  expect(waitingSummary({ counts })).toBe('3 wait: QuotaExceeded 2, CrdMissing 1')
  expect(waitingSummary({ counts: { Invalid: 1 } })).toBe('1 waits: Invalid 1')
  expect(waitingSummary({ counts: {} })).toBe('')
})

test('each waiting object has a line with its reason and since when, and those not named are counted', () => {
  const definition = { ...pod, resource: 'gears.example.com', namespace: '', name: 'g', reason: 'CrdMissing', since: 1 }
  expect(waitingLines('a', { counts, objects: [pod, definition] })).toEqual([
    'OBJECT               WAITS FOR      SINCE',
    'pods/default/web     QuotaExceeded  1970-01-01T00:00:00.000Z',
    'gears.example.com/g  CrdMissing     1970-01-01T00:00:00.001Z',
    '… and 1 more that have waited less long',
    'docs/reasons.md says what each means; "causeway why KIND/NAME -t a" says more of one object',
  ])
  expect(waitingLines('a', { counts: {}, objects: [] })).toEqual(['nothing of tenant a waits'])
})
