import { type Bus, readLast } from '#libs/bus'
import { STREAMS, decodeChange } from '#libs/events'
import { type KubeObject, type ResourceInfo, resourceToken } from '#libs/kube-model'

/**
 * Kinds of which objects are there according to the log, by tenant. Where a kind was switched off while nothing watched
 * it, these are the ones whose end is still to be seen.
 * @param options `filterOf` gives the subjects of a kind, `isOurs` tells the objects that are ours to end
 */
export async function leftBehind(
  bus: Bus,
  options: {
    kinds: readonly ResourceInfo[]
    filterOf: (resource: string) => string
    isOurs: (object: KubeObject, resource: string) => boolean
    signal: AbortSignal
  },
): Promise<Map<string, ResourceInfo[]>> {
  const { kinds, filterOf, isOurs, signal } = options
  const byToken = new Map(kinds.map((kind) => [resourceToken(kind), kind]))
  const found = new Map<string, Set<ResourceInfo>>()
  const filterSubjects = [...byToken.keys()].map(filterOf)
  if (filterSubjects.length === 0) return new Map()
  for await (const batch of readLast(bus, { stream: STREAMS.state, filterSubjects, signal })) {
    for (const message of batch) {
      const change = decodeChange(message)
      const { key, type } = change
      const kind = byToken.get(key.resource)
      if (kind === undefined || type === 'DELETED' || type === 'SYNCED' || !isOurs(change.object(), key.resource))
        continue
      found.set(key.tenant, (found.get(key.tenant) ?? new Set()).add(kind))
    }
  }
  return new Map([...found].map(([tenant, of]) => [tenant, [...of]]))
}
