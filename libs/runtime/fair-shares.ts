import { sha256Hex } from '#libs/kernel'

/**
 * Who is to work on which partition: each of the members gets the same number of them, give or take one. Everybody who
 * knows the same members comes to the same answer, and a member that comes or goes moves few partitions besides its own.
 */
export function fairShares(partitions: number, members: readonly string[]): string[] {
  const limit = Math.ceil(partitions / Math.max(1, members.length))
  const counts = new Map<string, number>()
  return Array.from({ length: partitions }, (_, partition) => {
    // Rendezvous hashing: each partition has an order of preference among the members that depends on nothing else.
    const preferred = members
      .map((member) => ({ member, weight: sha256Hex(`${member}/${partition}`) }))
      .toSorted((a, b) => (a.weight < b.weight ? -1 : 1))
      .find(({ member }) => (counts.get(member) ?? 0) < limit)
    const member = preferred?.member ?? ''
    counts.set(member, (counts.get(member) ?? 0) + 1)
    return member
  })
}
