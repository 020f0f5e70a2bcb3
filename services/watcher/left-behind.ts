import { type Bus, readLast } from '#libs/bus'
import { STREAMS, decodeChange, markersFilter, parseSubject } from '#libs/events'
import { type KubeObject, type ResourceInfo, type Side, resourceToken } from '#libs/kube-model'
import { customResourceInfo, isCustomResource, kindsEndedOn } from '#libs/translation'

/**
 * Kinds of which objects are there according to the log, by tenant. Where a kind was switched off while nothing watched
 * it, these are the ones whose end is still to be seen.
 * @param options `side` and `partition` say whose; `filterOf` gives the subjects of a kind, `isOurs` tells the objects
 *   that are ours to end; kinds in `watched`, by their tokens, are left out
 */
export async function leftBehind(
  bus: Bus,
  options: {
    side: Side
    partition?: number
    watched?: ReadonlySet<string>
    filterOf: (resource: string) => string
    isOurs: (object: KubeObject, resource: string) => boolean
    signal: AbortSignal
  },
): Promise<Map<string, ResourceInfo[]>> {
  const { side, watched, filterOf, isOurs, signal } = options
  const byToken = new Map(kindsEndedOn(side).map((kind) => [resourceToken(kind), kind]))
  const custom = await customResourcesSeen(bus, options)
  const tokens = new Set([...byToken.keys(), ...custom]).difference(watched ?? new Set())
  if (tokens.size === 0) return new Map()
  const found = new Map<string, Map<string, ResourceInfo>>()
  const filterSubjects = [...tokens].map(filterOf)
  for await (const batch of readLast(bus, { stream: STREAMS.state, filterSubjects, signal })) {
    for (const message of batch) {
      const change = decodeChange(message)
      const { tenant, resource, namespace } = change.key
      if (change.type === 'DELETED' || change.type === 'SYNCED') continue
      const ofTenant = found.get(tenant) ?? new Map<string, ResourceInfo>()
      if (ofTenant.has(resource) || !isOurs(change.object(), resource)) continue
      const kind = byToken.get(resource) ?? customResourceInfo(resource, { namespaced: namespace !== '' })
      found.set(tenant, ofTenant.set(resource, kind))
    }
  }
  return new Map([...found].map(([tenant, of]) => [tenant, [...of.values()]]))
}

/**
 * Custom resources that were ever watched: no configuration may name them any more, and only the log still knows them.
 * Each has left a marker for every tenant, which are few.
 */
async function customResourcesSeen(
  bus: Bus,
  { side, partition, signal }: { side: Side; partition?: number; signal: AbortSignal },
): Promise<string[]> {
  const filterSubjects = [markersFilter(side, partition)]
  const seen = new Set<string>()
  for await (const batch of readLast(bus, { stream: STREAMS.state, filterSubjects, signal })) {
    for (const { subject } of batch) seen.add(parseSubject(subject).key.resource)
  }
  return [...seen].filter(isCustomResource)
}
