import { type Bus, readLast } from '#libs/bus'
import { type LogMessage, STREAMS, decodeChange, decodeOutcome, markersFilter, parseSubject } from '#libs/events'
import {
  type KubeObject,
  type ObjectKey,
  type ResourceInfo,
  type Side,
  keyString,
  resourceToken,
} from '#libs/kube-model'
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
  // What was written last may not have been seen by the watch before all went down: its outcome tells of it as well.
  const filters = [...tokens].map(filterOf)
  const filterSubjects = [...filters, ...filters.map((filter) => filter.replace(/^change/, 'outcome'))]
  const left = new Map<string, ObjectKey>()
  for await (const batch of readLast(bus, { stream: STREAMS.state, filterSubjects, signal })) {
    for (const message of batch) {
      const { type, key } = parseSubject(message.subject)
      const isThere = type === 'outcome' ? wasMade(message) : isOfOurs(message, isOurs)
      if (isThere === true) left.set(keyString(key), key)
      else if (isThere === false) left.delete(keyString(key))
    }
  }
  const found = new Map<string, Map<string, ResourceInfo>>()
  for (const { tenant, resource, namespace } of left.values()) {
    const kind = byToken.get(resource) ?? customResourceInfo(resource, { namespaced: namespace !== '' })
    found.set(tenant, (found.get(tenant) ?? new Map<string, ResourceInfo>()).set(resource, kind))
  }
  return new Map([...found].map(([tenant, of]) => [tenant, [...of.values()]]))
}

/** Whether a change says that there is an object of ours; undefined for what is no object's. */
function isOfOurs(message: LogMessage, isOurs: (object: KubeObject, resource: string) => boolean): boolean | undefined {
  const change = decodeChange(message)
  if (change.type === 'SYNCED') return undefined
  return change.type !== 'DELETED' && isOurs(change.object(), change.key.resource)
}

/** Whether an outcome says that we have made an object. Of its end only the watch tells: finalizers may keep it. */
function wasMade(message: LogMessage): true | undefined {
  const { op, result } = decodeOutcome(message)
  return op === 'create' && result === 'done' ? true : undefined
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
