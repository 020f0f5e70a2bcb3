import { expect, test } from 'vitest'
import { backoffDelay } from './backoff.ts'

const options = { baseMs: 100, capMs: 1_000 }

test.each([
  [0, 100],
  [1, 200],
  [3, 800],
  [4, 1_000],
  [10_000, 1_000],
])('retry %i waits up to %i ms', (attempt, ceiling) => {
  expect(backoffDelay(options, attempt, () => 0)).toBe(0)
  expect(backoffDelay(options, attempt, () => 0.5)).toBe(ceiling / 2)
  expect(backoffDelay(options, attempt, () => 0.999_999)).toBeLessThan(ceiling)
})

test('grows by the factor that is asked for', () => {
  expect(backoffDelay({ ...options, factor: 3 }, 2, () => 1)).toBe(900)
})
