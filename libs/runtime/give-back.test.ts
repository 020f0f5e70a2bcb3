import { expect, test } from 'vitest'
import { RestingHeap } from './give-back.ts'

const MEGABYTE = 1024 * 1024
const SECOND = 1_000_000

/** What is said at each look, ten seconds apart. */
function looks(
  heap: RestingHeap,
  heapTotals: readonly number[],
  cpuOf: number | ((look: number) => number),
): boolean[] {
  let now = 0
  let cpu = 0
  return heapTotals.map((megabytes, look) => {
    now += 10_000
    cpu += typeof cpuOf === 'number' ? cpuOf : cpuOf(look)
    const footprint = { heapTotal: megabytes * MEGABYTE, cpu }
    const isWorth = heap.isWorthCollecting(footprint, now)
    if (isWorth) heap.collected({ ...footprint, heapTotal: 50 * MEGABYTE }, now)
    return isWorth
  })
}

const fresh = (): RestingHeap => new RestingHeap({ heapTotal: 0, cpu: 0 }, 0)

test('a process that has been quiet for half a minute is collected, and again only when it has grown', () => {
  expect(looks(fresh(), [100, 100, 100, 50, 51], 0.1 * SECOND)).toEqual([false, false, true, false, false])
  const later = looks(fresh(), [100, 100, ...Array.from({ length: 40 }, () => 60)], 0.1 * SECOND)
  expect(later.filter(Boolean)).toHaveLength(1)
})

test('one that grows at rest is collected every five minutes at most', () => {
  const always = looks(
    fresh(),
    Array.from({ length: 90 }, () => 100),
    0.1 * SECOND,
  )
  expect(always.flatMap((isWorth, index) => (isWorth ? [index] : []))).toEqual([2, 32, 62])
})

test('after work it is collected as soon as it is quiet again', () => {
  const heapTotals = Array.from({ length: 10 }, () => 100)
  const worth = looks(fresh(), heapTotals, (look) => (look === 4 ? 8 : 0.1) * SECOND)
  expect(worth.flatMap((isWorth, index) => (isWorth ? [index] : []))).toEqual([2, 7])
})

test('one that works, or has a heap so large that a pause would be long, is left alone', () => {
  expect(looks(fresh(), [100, 100, 100, 100, 100], 2 * SECOND)).not.toContain(true)
  expect(looks(fresh(), [2_000, 2_000, 2_000, 2_000], 0.1 * SECOND)).not.toContain(true)
})
