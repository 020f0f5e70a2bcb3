import { describe, expect, test } from 'vitest'
import { median, medianPercentiles, percentiles, slope } from './statistics.ts'

describe('percentiles', () => {
  test('are values that were measured, by the nearest rank', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index)
    expect(percentiles(values)).toEqual({ count: 100, p50: 50, p90: 90, p99: 99, max: 100 })
  })

  test('of one value are that value', () => {
    expect(percentiles([7])).toEqual({ count: 1, p50: 7, p90: 7, p99: 7, max: 7 })
  })

  test('of nothing are zero', () => {
    expect(percentiles([])).toEqual({ count: 0, p50: 0, p90: 0, p99: 0, max: 0 })
  })
})

describe('the median', () => {
  test.each([
    { values: [], expected: 0 },
    { values: [3, 1, 2], expected: 2 },
    { values: [4, 1, 3, 2], expected: 2.5 },
  ])('of $values is $expected', ({ values, expected }) => {
    expect(median(values)).toBe(expected)
  })

  test('over runs is taken point by point, and one slow run does not move it', () => {
    const run = (p50: number): ReturnType<typeof percentiles> => ({ count: 10, p50, p90: p50, p99: p50, max: p50 })
    expect(medianPercentiles([run(1), run(100), run(2)])).toEqual({ count: 30, p50: 2, p90: 2, p99: 2, max: 2 })
  })
})

test.each([
  { points: [], expected: 0 },
  { points: [[1, 5]], expected: 0 },
  {
    points: [
      [0, 1],
      [10, 21],
      [20, 41],
    ],
    expected: 2,
  },
  {
    points: [
      [0, 1],
      [1, 3],
      [2, 1],
    ],
    expected: 0,
  },
] as { points: [number, number][]; expected: number }[])(
  'the slope of $points is $expected',
  ({ points, expected }) => {
    expect(slope(points)).toBeCloseTo(expected, 9)
  },
)
