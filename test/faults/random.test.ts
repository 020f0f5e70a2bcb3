import { expect, test } from 'vitest'
import { createRandom } from './random.ts'

const draw = (seed: number): number[] => {
  const random = createRandom(seed)
  return Array.from({ length: 50 }, () => random.whole(1, 1_000))
}

test('the same seed gives the same numbers, another seed others', () => {
  expect(draw(7)).toEqual(draw(7))
  expect(draw(7)).not.toEqual(draw(8))
})

test('whole numbers reach both ends and nothing beyond', () => {
  const random = createRandom(1)
  const seen = new Set(Array.from({ length: 500 }, () => random.whole(3, 6)))
  expect([...seen].toSorted((a, b) => a - b)).toEqual([3, 4, 5, 6])
})

test('a fork follows from seed and label, whatever was drawn before', () => {
  const before = createRandom(5)
  const drawn = createRandom(5)
  drawn.next()
  expect(drawn.fork('faults').next()).toBe(before.fork('faults').next())
  expect(before.fork('faults').next()).not.toBe(before.fork('work').next())
})

test('shuffling keeps everything', () => {
  const list = [1, 2, 3, 4, 5, 6, 7]
  const shuffled = createRandom(2).shuffled(list)
  expect(shuffled.toSorted((a, b) => a - b)).toEqual(list)
  expect(shuffled).not.toEqual(list)
})
