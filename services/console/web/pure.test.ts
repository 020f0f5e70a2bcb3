import { describe, expect, test } from 'vitest'
import { ago, clockTime, count, duration, fromTimeField, toTimeField } from './format.ts'
import { folded, lineDiff } from './line-diff.ts'
import { hrefOf, parseHash } from './place.ts'

const NOW = Date.UTC(2026, 10, 30, 20, 0, 0, 5)

test.each([
  [null, '–'],
  [0.25, '0.3 ms'],
  [4, '4 ms'],
  [45.4, '45 ms'],
  [1_250, '1.3 s'],
  [61_000, '61 s'],
  [600_000, '10 min'],
  [7_200_000, '2 h'],
  [259_200_000, '3 d'],
])('%s ms reads as %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})

test('times read as they are said', () => {
  expect(ago(NOW - 400, NOW)).toBe('now')
  expect(ago(NOW - 5_400, NOW)).toBe('5 s ago')
  expect(clockTime(NOW, NOW)).toBe('20:00:00.005')
  expect(clockTime(NOW - 86_400_000, NOW)).toBe('2026-11-29 20:00:00.005')
  expect(count(1_234_567)).toBe('1\u2009234\u2009567')
})

test('a field of time gives back what it was given, to the second', () => {
  expect(fromTimeField(toTimeField(NOW))).toBe(NOW - 5)
  expect(fromTimeField('')).toBeUndefined()
})

describe('two texts side by side', () => {
  test('equal lines stand next to each other', () => {
    expect(lineDiff('a\nb\nc\n', 'a\nx\ny\nc\n')).toEqual([
      { left: 'a', right: 'a', isSame: true },
      { left: 'b', right: 'x', isSame: false },
      { right: 'y', isSame: false },
      { left: 'c', right: 'c', isSame: true },
    ])
  })

  test('one side may be empty', () => {
    expect(lineDiff('', 'a\n')).toEqual([{ right: 'a', isSame: false }])
    expect(lineDiff('', '')).toEqual([])
  })

  test('as much as possible stays where it is', () => {
    const rows = lineDiff('a\nb\nc\nd\n', 'b\nc\nd\ne\n')
    expect(rows.filter(({ isSame }) => isSame).map(({ left }) => left)).toEqual(['b', 'c', 'd'])
  })

  test('what is far from a difference is folded', () => {
    const text = Array.from({ length: 20 }, (_, index) => `line ${index}`)
    const rows = folded(lineDiff(text.join('\n'), text.with(10, 'other').join('\n')), 2)
    expect(rows.map((row) => ('skipped' in row ? row.skipped : row.left))).toEqual([
      8,
      'line 8',
      'line 9',
      'line 10',
      'line 11',
      'line 12',
      7,
    ])
  })
})

test('a place leads back to itself by its address', () => {
  for (const place of [
    { view: 'fleet', path: [], query: {} },
    { view: 'tenant', path: ['team-a'], query: {} },
    { view: 'object', path: ['team-a', 'pods', 'a/b', 'web%'], query: { tab: 'trace' } },
    { view: 'replay', path: [], query: { tenant: 'team-a', at: '5' } },
  ] as const)
    expect(parseHash(hrefOf(place.view, place.path, place.query))).toEqual(place)
})

test('an address that leads nowhere leads to the fleet', () => {
  for (const hash of ['', '#', '#/', '#/nowhere/x', '#/object/%E0%A4%A']) expect(parseHash(hash).view).toBe('fleet')
})
