import { type Bus, originOf, readLast, readOrdered } from '#libs/bus'
import { ALL_PARTITIONS, type LogMessage, MARKER_NAME, STREAMS, parseSubject, tenantFilter } from '#libs/events'
import { Problem } from '../http/problem.ts'
import type { AsOfPage, FoundObject } from '../views.ts'
import { foundObject } from './find-objects.ts'

/** More than these, those that are gone among them, are for a file: here they would be held in memory. */
const OBJECT_LIMIT = 200_000
const KEPT = 2

type Moment = { at: number; objects: FoundObject[]; isCut: boolean }

/** Which moment: of a tenant, with the host's own objects that concern all where these are asked for. */
type MomentOf = { tenant: AsOfQuery['tenant']; at: number; isHostAsked: boolean }

export type AsOfQuery = {
  tenant: { name: string; partition: number }
  /** Milliseconds since the epoch. */
  at: number
  search: string
  side?: string | undefined
  resource?: string | undefined
  namespace?: string | undefined
  offset: number
  limit: number
}

/** The objects of a tenant as of a time, both sides, replayed from the log; of the host alone, with those that concern all. The last few moments are kept for paging. */
export class Moments {
  readonly #bus: Bus
  readonly #kept = new Map<string, Promise<Moment>>()

  constructor(bus: Bus) {
    this.#bus = bus
  }

  /** @throws BusError */
  async page(query: AsOfQuery): Promise<AsOfPage> {
    const { tenant, at, search, side, resource, namespace, offset, limit } = query
    const moment = await this.#momentOf({ tenant, at, isHostAsked: side === 'host' })
    const matching = moment.objects.filter(
      (each) =>
        each.name.includes(search) &&
        (side === undefined || each.side === side) &&
        (resource === undefined || each.resource === resource) &&
        (namespace === undefined || each.namespace === namespace),
    )
    const items = matching.slice(offset, offset + limit)
    return { at, total: matching.length, offset, isCut: moment.isCut, items }
  }

  #momentOf(of: MomentOf): Promise<Moment> {
    const id = `${of.tenant.name}/${of.at}/${of.isHostAsked}`
    const known = this.#kept.get(id)
    if (known !== undefined) return known
    const read = readMoment(this.#bus, of)
    this.#kept.set(id, read)
    read.catch(() => this.#kept.delete(id))
    for (const old of [...this.#kept.keys()].slice(0, -KEPT)) this.#kept.delete(old)
    return read
  }
}

async function readMoment(bus: Bus, { tenant, at, isHostAsked }: MomentOf): Promise<Moment> {
  // What of the host concerns all tenants, such as nodes, changes often: it is read for whoever wants the host alone.
  const shared = isHostAsked ? [`change.${ALL_PARTITIONS}.>`] : []
  const filterSubjects = [tenantFilter('change', tenant.partition, tenant.name), ...shared]
  const objects = new Map<string, FoundObject>()
  const take = (message: LogMessage): void => {
    const { key } = parseSubject(message.subject)
    if (key.name === MARKER_NAME) return
    objects.set(message.subject, foundObject(key, message))
    if (objects.size > OBJECT_LIMIT) {
      const words = `tenant ${tenant.name} has had more than ${OBJECT_LIMIT} objects: use "causeway replay --as-of"`
      throw new Problem(422, 'TooManyObjects', words)
    }
  }
  // What the history has lost and has not changed since: its last state, where that is old enough. What the history
  // holds takes its place.
  for await (const batch of readLast(bus, { stream: STREAMS.state, filterSubjects })) {
    for (const message of batch) if (originOf(message) !== undefined && message.storedAt <= at) take(message)
  }
  const isCut = await eachUntil(bus, { filterSubjects, at }, take)
  return {
    at,
    isCut,
    objects: [...objects.values()].filter(({ isDeleted }) => !isDeleted).toSorted(inOrder),
  }
}

/** @returns whether the history does not reach back to its beginning */
async function eachUntil(
  bus: Bus,
  { filterSubjects, at }: { filterSubjects: string[]; at: number },
  take: (message: LogMessage) => void,
): Promise<boolean> {
  const done = new AbortController()
  let isCut = false
  const reader = readOrdered(bus, {
    stream: STREAMS.changes,
    filterSubjects,
    startSeq: 1,
    signal: done.signal,
    onGap: () => {
      isCut = true
    },
  })
  void reader.caughtUp.then(() => done.abort())
  for await (const batch of reader) {
    for (const message of batch) {
      if (message.storedAt > at) done.abort()
      else take(message)
    }
  }
  return isCut
}

function inOrder(a: FoundObject, b: FoundObject): number {
  const id = ({ side, resource, namespace, name }: FoundObject): string =>
    [side === 'virtual' ? 0 : 1, resource, namespace, name].join('\0')
  return id(a) < id(b) ? -1 : 1
}
