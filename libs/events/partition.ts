/** The partition of objects that concern every tenant, such as nodes. Every partition reads it. */
export const ALL_PARTITIONS = 'all'

export type Partition = number | typeof ALL_PARTITIONS

/**
 * The partition of a tenant: FNV-1a (32 bit) of its name modulo the number of partitions. The NATS server's own
 * `partition()` subject mapping computes the same, so that the server could route as well.
 */
export function partitionOf(tenant: string, partitions: number): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(tenant)) {
    hash ^= byte
    hash = Math.imul(hash, 0x01000193) >>> 0
  }
  return hash % partitions
}
