import { expect, test } from 'vitest'
import { TokenBucket } from './token-bucket.ts'

test('gives what it holds at once, then what time brings, and no more than it can hold', () => {
  const bucket = new TokenBucket({ perSecond: 2, size: 3, now: 0 })
  const taken = (now: number): number => {
    let count = 0
    while (bucket.take(now)) count++
    return count
  }
  expect(taken(0)).toBe(3)
  expect(taken(400)).toBe(0)
  expect(taken(1_000)).toBe(2)
  expect(taken(60_000)).toBe(3)
})

test('leaves some for those that may take all', () => {
  const bucket = new TokenBucket({ perSecond: 0, size: 2, now: 0 })
  expect([bucket.take(0, 1), bucket.take(0, 1), bucket.take(0)]).toEqual([true, false, true])
})
