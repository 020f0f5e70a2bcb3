import { expect, test } from 'vitest'
import { fairShares } from './fair-shares.ts'

const countsOf = (shares: string[]): number[] => {
  const counts = new Map<string, number>()
  for (const member of shares) counts.set(member, (counts.get(member) ?? 0) + 1)
  return [...counts.values()]
}

test('one member gets everything, nobody gets nothing', () => {
  expect(fairShares(3, ['a'])).toEqual(['a', 'a', 'a'])
  expect(fairShares(2, [])).toEqual(['', ''])
})

test.each([2, 3, 5, 8])('%i members get no more than a fair share each', (count) => {
  const members = Array.from({ length: count }, (_, index) => `member-${index}`)
  const limit = Math.ceil(64 / count)
  expect(Math.max(...countsOf(fairShares(64, members)))).toBeLessThanOrEqual(limit)
})

test('the order in which members are known does not matter', () => {
  expect(fairShares(16, ['b', 'c', 'a'])).toEqual(fairShares(16, ['a', 'b', 'c']))
})

test('most partitions stay where they are when a member comes', () => {
  const before = fairShares(64, ['a', 'b', 'c'])
  const after = fairShares(64, ['a', 'b', 'c', 'd'])
  const moved = before.filter((member, partition) => member !== after[partition] && after[partition] !== 'd')
  expect(moved.length).toBeLessThan(16)
})
