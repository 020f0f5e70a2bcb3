import { expect, test } from 'vitest'
import { forgetOldest } from './forget-oldest.ts'

test('holds what was added last, a tenth more at most', () => {
  const map = new Map<number, string>()
  for (let key = 0; key < 1_000; key++) {
    map.set(key, '')
    forgetOldest(map, 100)
    expect(map.size).toBeLessThanOrEqual(110)
    expect(map.has(Math.max(0, key - 99))).toBe(true)
  }
})

test('takes sets as well', () => {
  const set = new Set([1, 2, 3])
  forgetOldest(set, 1)
  expect([...set]).toEqual([3])
})
