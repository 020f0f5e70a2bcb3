import { setTimeout as sleep } from 'node:timers/promises'
import { REASONS, partitionOf } from '#libs/events'
import { REMEDIES } from '#libs/explain'
import { giveOrder, waitingKey } from '#libs/runtime'
import type { Route } from '../http/route.ts'
import { TENANT_ORDERS, tenantPage } from '../fleet/tenant-page.ts'
import * as views from '../views.ts'
import type { ConsoleContext } from './console-context.ts'
import { pageQuery, registered } from './shared.ts'

/** How often listeners are told how it stands. */
const LIVE_EVERY_MS = 2_000

/** Routes about the fleet and its tenants. */
export function fleetRoutes(context: ConsoleContext): Route[] {
  const fleetView = async (): Promise<views.FleetView> => {
    const fleet = await context.fleet()
    return fleet.summary(await fleet.lags())
  }
  return [
    {
      kind: 'answer',
      method: 'GET',
      path: '/api/v1/fleet',
      summary: 'How it stands with the whole fleet: tenants, latency by stage, lag, what waits',
      answer: views.fleet,
      handle: fleetView,
    },
    {
      kind: 'events',
      method: 'GET',
      path: '/api/v1/live',
      summary: 'The same, again and again',
      events: { fleet: views.fleet },
      stream: async ({ signal }, send) => {
        while (!signal.aborted) {
          send('fleet', await fleetView())
          await sleep(LIVE_EVERY_MS, undefined, { signal }).catch(() => undefined)
        }
      },
    },
    {
      kind: 'answer',
      method: 'GET',
      path: '/api/v1/tenants',
      summary: 'Tenants, a page at a time',
      query: {
        search: { type: 'text', description: 'part of the name or of the host namespace', default: '' },
        state: { type: 'text', description: 'only those whose API is in this state' },
        order: { type: 'text', description: 'what comes first', oneOf: TENANT_ORDERS, default: 'name' },
        ...pageQuery,
      },
      answer: views.tenantPage,
      handle: async ({ text, number }) =>
        tenantPage(context.directory.tenants(), await context.fleet(), {
          search: text('search') ?? '',
          state: text('state'),
          order: TENANT_ORDERS.find((order) => order === text('order')) ?? 'name',
          offset: number('offset'),
          limit: number('limit'),
        }),
    },
    {
      kind: 'answer',
      method: 'GET',
      path: '/api/v1/tenants/{tenant}',
      summary: 'One tenant',
      answer: views.tenantView,
      handle: async ({ path }) => (await context.fleet()).tenant(registered(context, path['tenant'])),
    },
    {
      kind: 'answer',
      method: 'GET',
      path: '/api/v1/waiting',
      summary: 'Objects that wait, tenant by tenant, those that have waited longest first',
      query: {
        tenant: { type: 'text', description: 'only those of this tenant' },
        reason: { type: 'text', description: 'only those that wait for this', oneOf: REASONS },
        after: { type: 'text', description: 'where the page begins: next of the page before' },
        limit: pageQuery.limit,
      },
      isHeavy: true,
      answer: views.waitingPage,
      handle: ({ text, number }) =>
        waitingPage(context, {
          tenant: text('tenant'),
          reason: text('reason'),
          after: text('after'),
          limit: number('limit'),
        }),
    },
    {
      kind: 'answer',
      method: 'POST',
      path: '/api/v1/tenants/{tenant}/retry',
      summary: 'Has what waits of a tenant tried now, of one object or all',
      needsOperator: true,
      query: {
        resource: { type: 'text', description: 'the object’s resource, such as pods' },
        namespace: { type: 'text', description: 'its namespace', default: '' },
        name: { type: 'text', description: 'its name; without it, all that waits is tried' },
      },
      answer: views.retried,
      handle: async ({ path, text, signal }) => {
        const { name } = registered(context, path['tenant'])
        const resource = text('resource')
        const objectName = text('name')
        const object =
          resource === undefined || objectName === undefined
            ? undefined
            : { resource, namespace: text('namespace') ?? '', name: objectName }
        const { bus, replicas, clock, partitions } = context
        const { tried } = await giveOrder(bus, {
          partition: partitionOf(name, partitions),
          order: {
            kind: 'retry',
            tenant: name,
            by: 'console',
            at: clock.now(),
            ...(object === undefined ? {} : { object }),
          },
          replicas,
          clock,
          signal,
        })
        return { tried }
      },
    },
  ]
}

/** Pages over reports that are read as they are needed: all of a large fleet's would be too many to hold. */
async function waitingPage(
  context: ConsoleContext,
  query: { tenant: string | undefined; reason: string | undefined; after: string | undefined; limit: number },
): Promise<views.WaitingPage> {
  const fleet = await context.fleet()
  const { reason, limit } = query
  const [afterTenant = '', afterIndex = '0'] = query.after?.split(':') ?? []
  const names = context.directory
    .tenants()
    .map(({ name }) => name)
    .filter((name) => (query.tenant === undefined || name === query.tenant) && fleet.waiting(name, reason) > 0)
    .toSorted()
  const total = names.reduce((sum, name) => sum + fleet.waiting(name, reason), 0)
  const items: views.WaitingPage['items'] = []
  for (const tenant of names) {
    if (tenant < afterTenant) continue
    const report = await fleet.waitingReports.get(waitingKey(tenant))
    const objects = (report?.value.objects ?? []).filter((each) => reason === undefined || each.reason === reason)
    const first = tenant === afterTenant ? Number(afterIndex) || 0 : 0
    for (const [index, { resource, namespace, name, reason: why, since }] of objects.entries()) {
      if (index < first) continue
      if (items.length >= limit) return { total, items, next: `${tenant}:${index}` }
      items.push({ tenant, resource, namespace, name, reason: why, remedy: remedyOf(why), since })
    }
  }
  return { total, items }
}

function remedyOf(reason: string): string {
  return REMEDIES[reason as keyof typeof REMEDIES] ?? ''
}
