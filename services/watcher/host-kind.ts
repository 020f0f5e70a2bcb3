import { ALL_PARTITIONS, MARKER_NAME, partitionOf, resourceFilter } from '#libs/events'
import { backoffDelay } from '#libs/kernel'
import type { ListedEvent } from '#libs/kube'
import { type ResourceInfo, resourceToken } from '#libs/kube-model'
import type { TenantEntry } from '#libs/runtime'
import { LABELS } from '#libs/translation'
import { attribute } from './attribution.ts'
import { catchUp } from './catch-up.ts'
import type { WatchedCluster } from './cluster.ts'
import { KindLog } from './kind-log.ts'
import type { KindScope } from './kind-scope.ts'
import { KindWatch } from './kind-watch.ts'
import { LaneSet } from './lane-set.ts'
import { untilAborted } from './until-aborted.ts'
import type { Ownership, WatcherParts } from './watcher-parts.ts'

const RETRY = { baseMs: 500, capMs: 15_000 }
/** Changes that may wait over all tenants before the watch is read no further. */
const WAITING_LIMIT = 8_192
/** Warnings remembered, so that each is given once. */
const WARNED_LIMIT = 1_000

/** Watches nodes of the host, which concern every tenant. */
export function watchHostNodes(
  parts: WatcherParts,
  host: { cluster: WatchedCluster; kind: ResourceInfo; owned: Ownership },
): Promise<void> {
  const { cluster, kind, owned } = host
  const resource = resourceToken(kind)
  const scope: KindScope = {
    side: 'host',
    resource: kind,
    positionKey: `watcher.host.${resource}`,
    knownFilter: resourceFilter(ALL_PARTITIONS, { tenant: '', side: 'host', resource }),
    attribute: () => '',
    partitionOf: () => ALL_PARTITIONS,
    owners: () => [{ tenant: '', owner: '' }],
  }
  const lanes = hostLanes(parts, owned)
  const log = new KindLog({ ...parts, scope, lanes })
  return new KindWatch({
    ...parts,
    ...owned,
    cluster,
    scope,
    lanes,
    log,
    owner: '',
    report: (state, message) => parts.board.set({ tenant: '', resource, state, message }),
  }).run(owned.signal)
}

/**
 * Watches one kind of the host for the whole fleet: the copies of every registered tenant. What a tenant had there
 * before it was registered is read when it is.
 */
export async function watchHostKind(
  parts: WatcherParts,
  host: { cluster: WatchedCluster; kind: ResourceInfo; owned: Ownership },
): Promise<void> {
  const { cluster, kind, owned } = host
  const { directory, board, clock, random, logger } = parts
  const { signal } = owned
  const resource = resourceToken(kind)
  const scope = hostScope(parts, kind)
  const lanes = hostLanes(parts, owned)
  const log = new KindLog({ ...parts, scope, lanes })
  /** Tenants that a list was closed for, as `<name>/<uid>`. */
  const closed = new Set<string>()
  let covered = new Map<string, TenantEntry>()
  let wake = Promise.withResolvers<void>()
  const rouse = (): void => wake.resolve()

  const watch = new KindWatch({
    ...parts,
    ...owned,
    cluster,
    scope,
    lanes,
    log,
    owner: '',
    report: (state, message) => {
      board.set({ tenant: '', resource, state, message })
      rouse()
    },
    hooks: {
      begun: () => {
        const haveObjects = new Set([...(log.known?.values() ?? [])].map((known) => known.tenant))
        const isCovered = (tenant: TenantEntry): boolean => closed.has(idOf(tenant)) || !haveObjects.has(tenant.name)
        covered = new Map(directory.tenants().flatMap((tenant) => (isCovered(tenant) ? [[idOf(tenant), tenant]] : [])))
      },
      closed: ({ resourceVersion, count }: ListedEvent) => {
        for (const [id, { name, uid, hostNamespace }] of covered) {
          const now = directory.tenant(name)
          if (now?.uid !== uid || now.hostNamespace !== hostNamespace) continue
          log.publishMarker({ tenant: name, owner: uid, cluster: cluster.identity, resourceVersion, count })
          closed.add(id)
        }
      },
    },
  })

  const followTenants = async (): Promise<void> => {
    for (let attempt = 0; !signal.aborted;) {
      const next = watch.synced ? directory.tenants().find((tenant) => !closed.has(idOf(tenant))) : undefined
      if (next === undefined) {
        attempt = 0
        await untilAborted(wake.promise, signal)
        wake = Promise.withResolvers()
        continue
      }
      try {
        await watch.inTurn(() => catchUp({ ...parts, cluster, scope, lanes, log, watch, tenant: next, signal }))
        closed.add(idOf(next))
      } catch (error) {
        if (signal.aborted) return
        if ((error as { code?: string }).code === 'ClusterChanged') throw error
        logger.warn({ tenant: next.name, resource, err: error }, 'host objects of a tenant could not be read')
        await clock.sleep(backoffDelay(RETRY, attempt++, random), signal).catch(() => undefined)
      }
    }
  }

  const markers = `change.*.*.host.${resource}._.${MARKER_NAME}`
  for (const [name, owner] of await log.readMarkers(markers, signal)) closed.add(`${name}/${owner}`)
  const unsubscribe = directory.subscribe(({ type, tenant }) => {
    if (type === 'removed') log.known?.forgetTenant(tenant.name)
    // Whatever changed about it, what is its own may be other objects now.
    if (type !== 'added') closed.delete(idOf(tenant))
    rouse()
  })
  const stop = new AbortController()
  try {
    await Promise.race([watch.run(AbortSignal.any([signal, stop.signal])), followTenants()])
  } finally {
    unsubscribe()
    stop.abort()
    rouse()
  }
}

function hostScope(parts: WatcherParts, kind: ResourceInfo): KindScope {
  const { directory, metrics, logger } = parts
  const resource = resourceToken(kind)
  const warned = new Set<string>()
  return {
    side: 'host',
    resource: kind,
    positionKey: `watcher.host.${resource}`,
    knownFilter: `change.*.*.host.${resource}.>`,
    labelSelector: LABELS.tenant,
    attribute: (object) => {
      const attribution = attribute(object, (tenant) => directory.tenant(tenant)?.hostNamespace)
      if (!('dropped' in attribution)) return attribution.tenant
      metrics.dropped(attribution.dropped)
      const { namespace = '' } = object.metadata
      const what = { reason: attribution.dropped, tenant: attribution.tenant, namespace, resource }
      const key = JSON.stringify(what)
      if (!warned.has(key) && warned.size < WARNED_LIMIT) {
        warned.add(key)
        logger.warn(what, 'host objects are labelled for a tenant they cannot belong to')
      }
      return undefined
    },
    partitionOf: (tenant) => partitionOf(tenant, parts.partitions),
    owners: () => directory.tenants().map(({ name, uid }) => ({ tenant: name, owner: uid })),
  }
}

function hostLanes(parts: WatcherParts, owned: Ownership): LaneSet {
  return new LaneSet({
    publisher: parts.publisher,
    window: parts.window,
    limit: WAITING_LIMIT,
    held: owned.held,
    onRefused: (subject, error) => parts.logger.error({ subject, err: error }, 'the log refuses a change'),
  })
}

function idOf(tenant: TenantEntry): string {
  return `${tenant.name}/${tenant.uid}`
}
