import { expect, test } from 'vitest'
import { parseSince } from './parse-since.ts'

test.each([
  ['30s', 970_000],
  ['10m', 400_000],
  ['1970-01-01T00:00:05Z', 5_000],
])('%s is a moment', (text, at) => {
  expect(parseSince(text, 1_000_000)).toBe(at)
})

test.each(['10', 'm', '10 m', 'yesterday', ''])('"%s" is none, and it is said how to write one', (text) => {
  expect(() => parseSince(text, 0)).toThrow(/--since.*10m/)
})
