import { expect, test } from 'vitest'
import { AdaptiveLimit, type CallSample } from './adaptive-limit.ts'

/** Runs rounds of as many calls as are allowed, a second apart. */
function run(limit: AdaptiveLimit, sample: CallSample, options: { rounds: number; from?: number }): void {
  for (let round = 0; round < options.rounds; round += 1) {
    const now = (options.from ?? 0) + round * 1_000
    let started = 0
    while (limit.tryAcquire(now)) started += 1
    for (; started > 0; started -= 1) limit.release(sample, now)
  }
}

test('starts at 16 and lets no more be under way', () => {
  const limit = new AdaptiveLimit()
  let started = 0
  while (limit.tryAcquire(0)) started += 1
  expect(started).toBe(16)
})

test('grows while it is used up and answers come quickly, up to its maximum', () => {
  const limit = new AdaptiveLimit()
  run(limit, { result: 'answered', ms: 10 }, { rounds: 500 })
  expect(limit.limit).toBe(64)
})

test('does not grow while little is asked', () => {
  const limit = new AdaptiveLimit()
  for (let n = 0; n < 1_000; n += 1) {
    limit.tryAcquire(n)
    limit.release({ result: 'answered', ms: 10 }, n)
  }
  expect(limit.limit).toBe(16)
})

test('halves on 429, once for all calls that were under way together', () => {
  const limit = new AdaptiveLimit()
  run(limit, { result: 'overloaded', ms: 10 }, { rounds: 1 })
  expect(limit.limit).toBe(8)
})

test('pauses for as long as the server asks, within reason', () => {
  const limit = new AdaptiveLimit()
  limit.tryAcquire(0)
  limit.release({ result: 'overloaded', ms: 1, retryAfterMs: 2_000 }, 0)
  expect(limit.tryAcquire(1_999)).toBe(false)
  expect(limit.pauseMs(1_500)).toBe(500)
  expect(limit.tryAcquire(2_000)).toBe(true)
  limit.release({ result: 'overloaded', ms: 1, retryAfterMs: 3_600_000 }, 2_000)
  expect(limit.pauseMs(2_000)).toBe(30_000)
})

test('shrinks while calls fail, never below its minimum', () => {
  const limit = new AdaptiveLimit()
  run(limit, { result: 'failed', ms: 10 }, { rounds: 20 })
  expect(limit.limit).toBe(4)
})

test('shrinks when the server becomes slow, and grows again when it recovers', () => {
  const limit = new AdaptiveLimit()
  run(limit, { result: 'answered', ms: 10 }, { rounds: 20 })
  const before = limit.limit
  run(limit, { result: 'answered', ms: 2_000 }, { rounds: 10, from: 100_000 })
  const slow = limit.limit
  expect(slow).toBeLessThan(before)
  run(limit, { result: 'answered', ms: 10 }, { rounds: 40, from: 200_000 })
  expect(limit.limit).toBeGreaterThan(slow)
})

test('a server that is slow for good is not taken for congested', () => {
  const limit = new AdaptiveLimit()
  run(limit, { result: 'answered', ms: 1_500 }, { rounds: 100 })
  expect(limit.limit).toBeGreaterThan(16)
})
