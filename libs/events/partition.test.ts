import { expect, test } from 'vitest'
import { partitionOf } from './partition.ts'

// The published test vectors of FNV-1a (32 bit), which the server's `partition()` uses as well.
test.each([
  ['', 0x811c9dc5],
  ['a', 0xe40c292c],
  ['foobar', 0xbf9cf968],
  ['chongo was here!\n', 0xd49930d5],
])('%j hashes as FNV-1a says', (text, hash) => {
  expect(partitionOf(text, 2 ** 32)).toBe(hash)
  expect(partitionOf(text, 8)).toBe(hash % 8)
})

test('spreads tenants over all partitions', () => {
  const counts = new Map<number, number>()
  for (let index = 0; index < 8_000; index++) {
    const partition = partitionOf(`team-${index}`, 8)
    counts.set(partition, (counts.get(partition) ?? 0) + 1)
  }
  expect(new Set(counts.keys())).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7]))
  expect(Math.max(...counts.values())).toBeLessThan(1_500)
})
