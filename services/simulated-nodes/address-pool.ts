/** Pod addresses of each node: unique among the pods there are. */
export type AddressPool = {
  /** An address of the node that no pod has. @throws when the node has no free one */
  take(nodeIndex: number): string
  /** Marks an address as used, as by a pod of an earlier process. */
  occupy(address: string): void
  free(address: string): void
}

/** A node's share of 10.128.0.0/9, and so the number of addresses. */
const PER_NODE = 2048
const BASE = 10 * 2 ** 24 + 128 * 2 ** 16

/** The block of a node in CIDR notation. */
export function podCidr(nodeIndex: number): string {
  return `${dotted(BASE + nodeIndex * PER_NODE)}/21`
}

export function createAddressPool(): AddressPool {
  const used = new Set<string>()
  const cursors = new Map<number, number>()
  return {
    take: (nodeIndex) => {
      const first = cursors.get(nodeIndex) ?? 0
      for (let step = 0; step < PER_NODE - 2; step++) {
        const offset = ((first + step) % (PER_NODE - 2)) + 1
        const address = dotted(BASE + nodeIndex * PER_NODE + offset)
        if (used.has(address)) continue
        // Going round makes a freed address rest before it is used again.
        cursors.set(nodeIndex, offset)
        used.add(address)
        return address
      }
      throw new Error(`node ${String(nodeIndex)} has no free pod address: delete pods or simulate more nodes`)
    },
    occupy: (address) => void used.add(address),
    free: (address) => void used.delete(address),
  }
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')
}
