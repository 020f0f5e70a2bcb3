import { type Bus, originOf, readLast } from '#libs/bus'
import {
  ALL_PARTITIONS,
  HEADERS,
  type LogMessage,
  MARKER_NAME,
  STREAMS,
  parseSubject,
  subjectFor,
  tenantFilter,
} from '#libs/events'
import type { ObjectKey, Side } from '#libs/kube-model'
import type { FoundObject, FoundPage } from '../views.ts'

export type ObjectQuery = {
  /** Part of the name. */
  search: string
  side?: Side | undefined
  resource?: string | undefined
  namespace?: string | undefined
  offset: number
  limit: number
}

type Placed = { name: string; partition: number }
type Found = { subject: string; key: ObjectKey }

/**
 * Finds a tenant's objects by what the log last said of each: the server lists its subjects, and nothing else is read but
 * the page.
 * @throws BusError
 */
export async function findObjects(bus: Bus, query: ObjectQuery & { tenant: Placed }): Promise<FoundPage> {
  const { tenant } = query
  const found = await subjectsOf(bus, tenantFilter('change', tenant.partition, tenant.name))
  return pageOf(bus, query, { found: found.filter(({ key }) => matches(key, query)), isCut: false })
}

/** Tenants whose subjects are listed at the same time, for how long, and how many objects are enough. */
const AT_ONCE = 8
const TIME_MS = 1_500
const ENOUGH = 1_000

/**
 * Finds objects over all tenants. The server looks for the whole name at once; for a part of it the subjects of the host's
 * own objects and then of one tenant after the other are listed, for a while and until there are many: `isCut` says that
 * there may be more.
 * @throws BusError
 */
export async function findOverAll(
  bus: Bus,
  query: ObjectQuery & { tenants: readonly Placed[]; now: () => number },
): Promise<FoundPage> {
  const { tenants, search, now } = query
  const found = new Map<string, Found>()
  const take = async (filter: string): Promise<void> => {
    for (const each of await subjectsOf(bus, filter)) if (matches(each.key, query)) found.set(each.subject, each)
  }
  await take(wholeName(search))
  const filters = [
    `change.${ALL_PARTITIONS}.>`,
    ...tenants.map(({ partition, name }) => tenantFilter('change', partition, name)),
  ]
  const end = now() + TIME_MS
  const look = async (): Promise<void> => {
    while (now() < end && found.size < ENOUGH) {
      const filter = filters.shift()
      if (filter === undefined) return
      await take(filter)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, look))
  return pageOf(bus, query, { found: [...found.values()], isCut: filters.length > 0 })
}

async function pageOf(
  bus: Bus,
  { offset, limit }: ObjectQuery,
  { found, isCut }: { found: readonly Found[]; isCut: boolean },
): Promise<FoundPage> {
  const keys = found.toSorted((a, b) => (sortKey(a.key) < sortKey(b.key) ? -1 : 1))
  const page = keys.slice(offset, offset + limit)
  const last = await lastOf(
    bus,
    page.map(({ subject }) => subject),
  )
  return {
    total: keys.length,
    offset,
    isCut,
    items: page.flatMap(({ subject, key }) => {
      const message = last.get(subject)
      return message === undefined ? [] : [foundObject(key, message)]
    }),
  }
}

async function subjectsOf(bus: Bus, filter: string): Promise<Found[]> {
  const { state } = await bus.manager.streams.info(STREAMS.state, { subjects_filter: filter })
  return Object.keys(state.subjects ?? {}).map((subject) => ({ subject, key: parseSubject(subject).key }))
}

/** An object as a message of the log tells of it. */
export function foundObject({ tenant, side, resource, namespace, name }: ObjectKey, message: LogMessage): FoundObject {
  return {
    tenant,
    side,
    resource,
    namespace,
    name,
    kind: message.headers[HEADERS.kind] ?? '',
    isDeleted: message.headers[HEADERS.type] === 'DELETED',
    at: message.storedAt,
  }
}

function wholeName(name: string): string {
  const any: ObjectKey = { tenant: '', side: 'host', resource: 'any', namespace: '', name }
  return `change.*.*.*.*.*.${subjectFor('change', ALL_PARTITIONS, any).split('.').at(-1)}`
}

function matches(key: ObjectKey, { search, side, resource, namespace }: ObjectQuery): boolean {
  return (
    key.name !== MARKER_NAME &&
    (side === undefined || key.side === side) &&
    (resource === undefined || key.resource === resource) &&
    (namespace === undefined || key.namespace === namespace) &&
    key.name.includes(search)
  )
}

function sortKey({ tenant, side, resource, namespace, name }: ObjectKey): string {
  return [tenant, side === 'virtual' ? 0 : 1, resource, namespace, name].join('\0')
}

async function lastOf(bus: Bus, subjects: string[]): Promise<Map<string, LogMessage>> {
  const last = new Map<string, LogMessage>()
  if (subjects.length === 0) return last
  for await (const batch of readLast(bus, { stream: STREAMS.state, filterSubjects: subjects })) {
    for (const message of batch) last.set(message.subject, { ...message, seq: originOf(message)?.seq ?? message.seq })
  }
  return last
}
