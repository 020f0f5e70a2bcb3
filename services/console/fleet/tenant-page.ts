import type { TenantEntry } from '#libs/runtime'
import type { TenantPage, TenantRow } from '../views.ts'

export const TENANT_ORDERS = ['name', 'waiting', 'latency', 'syncs', 'state'] as const

export type TenantQuery = {
  /** Part of the name or of the host namespace. */
  search: string
  state?: string | undefined
  order: (typeof TENANT_ORDERS)[number]
  offset: number
  limit: number
}

/** What a page of tenants is made from: only rows that are shown are made whole. */
type Fleet = {
  row(entry: TenantEntry): TenantRow
  state(tenant: string): string
  waiting(tenant: string): number
  activity(tenant: string): { meanMs: number | null; syncs: number }
}

/** One page of the tenants that match, in the order asked for; those that need a look come first. */
export function tenantPage(tenants: readonly TenantEntry[], fleet: Fleet, query: TenantQuery): TenantPage {
  const { search, state, order, offset, limit } = query
  const words = search.toLowerCase()
  const matching = tenants.filter(
    ({ name, hostNamespace }) =>
      (name.includes(words) || hostNamespace.includes(words)) && (state === undefined || fleet.state(name) === state),
  )
  const weigh: Record<TenantQuery['order'], (name: string) => number> = {
    name: () => 0,
    waiting: (name) => fleet.waiting(name),
    latency: (name) => fleet.activity(name).meanMs ?? -1,
    syncs: (name) => fleet.activity(name).syncs,
    state: (name) => (fleet.state(name) === 'synced' ? 0 : 1),
  }
  const weighed = matching.map((entry) => ({ entry, weight: weigh[order](entry.name) }))
  weighed.sort((a, b) => b.weight - a.weight || (a.entry.name < b.entry.name ? -1 : 1))
  const items = weighed.slice(offset, offset + limit).map(({ entry }) => fleet.row(entry))
  return { total: matching.length, offset, items }
}
