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
  /** Part of the name within a tenant; over all tenants the whole name. */
  search: string
  tenant?: { name: string; partition: number } | undefined
  side?: Side | undefined
  resource?: string | undefined
  namespace?: string | undefined
  offset: number
  limit: number
}

/**
 * Finds objects by what the log last said of each. Within a tenant the server lists its subjects, and nothing else is
 * read but the page; over all tenants the server looks for the whole name.
 * @throws BusError
 */
export async function findObjects(bus: Bus, query: ObjectQuery): Promise<FoundPage> {
  const { offset, limit } = query
  const info = await bus.manager.streams.info(STREAMS.state, { subjects_filter: filterOf(query) })
  const keys = Object.keys(info.state.subjects ?? {})
    .map((subject) => ({ subject, key: parseSubject(subject).key }))
    .filter(({ key }) => matches(key, query))
    .toSorted((a, b) => (sortKey(a.key) < sortKey(b.key) ? -1 : 1))
  const page = keys.slice(offset, offset + limit)
  const last = await lastOf(
    bus,
    page.map(({ subject }) => subject),
  )
  return {
    total: keys.length,
    offset,
    items: page.flatMap(({ subject, key }) => {
      const message = last.get(subject)
      return message === undefined ? [] : [foundObject(key, message)]
    }),
  }
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

function filterOf({ tenant, search }: ObjectQuery): string {
  if (tenant !== undefined) return tenantFilter('change', tenant.partition, tenant.name)
  const any: ObjectKey = { tenant: '', side: 'host', resource: 'any', namespace: '', name: search }
  return `change.*.*.*.*.*.${subjectFor('change', ALL_PARTITIONS, any).split('.').at(-1)}`
}

function matches(key: ObjectKey, { search, side, resource, namespace, tenant }: ObjectQuery): boolean {
  return (
    key.name !== MARKER_NAME &&
    (side === undefined || key.side === side) &&
    (resource === undefined || key.resource === resource) &&
    (namespace === undefined || key.namespace === namespace) &&
    (tenant === undefined || key.name.includes(search))
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
