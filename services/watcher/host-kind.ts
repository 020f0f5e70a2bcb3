import { ALL_PARTITIONS, MARKER_NAME, fleetFilter, partitionOf, resourceFilter } from '#libs/events'
import { type ResourceInfo, resourceToken } from '#libs/kube-model'
import { LABELS, type TenantPlace, hasOwnNamespaces, isTwoSided, watchedHost } from '#libs/translation'
import { attribute } from './attribution.ts'
import { catchUp } from './catch-up.ts'
import { ClusterChangedError, type WatchedCluster } from './cluster.ts'
import { HostTenants } from './host-tenants.ts'
import { KindLog } from './kind-log.ts'
import type { KindScope } from './kind-scope.ts'
import { KindWatch } from './kind-watch.ts'
import { LaneSet } from './lane-set.ts'
import type { Ownership, WatcherParts } from './watcher-parts.ts'

/** Changes that may wait over all tenants before the watch is read no further. */
const WAITING_LIMIT = 8_192
/** Warnings remembered, so that each is given once. */
const WARNED_LIMIT = 1_000

/** Watches one kind of the host's own objects, which concern every tenant; of one namespace, or all. */
export function watchSharedKind(
  parts: WatcherParts,
  host: { cluster: WatchedCluster; kind: ResourceInfo; owned: Ownership; namespace?: string | undefined },
): Promise<void> {
  const { cluster, kind, owned, namespace } = host
  const resource = resourceToken(kind)
  const name = sharedName(kind, namespace)
  const known = { tenant: '', side: 'host', resource } as const
  const scope: KindScope = {
    side: 'host',
    resource: kind,
    ...(namespace === undefined ? {} : { namespace }),
    positionKey: `watcher.host.${name}`,
    knownFilter: resourceFilter(ALL_PARTITIONS, namespace === undefined ? known : { ...known, namespace }),
    attribute: () => '',
    partitionOf: () => ALL_PARTITIONS,
    ownerOf: () => undefined,
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
    report: (state, message) => parts.board.set({ tenant: '', resource: name, state, message }),
  }).run(owned.signal)
}

/** What the watch of the host's own objects is called: copies of the same kind may be watched beside them. */
export function sharedName(kind: ResourceInfo, namespace?: string): string {
  const resource = resourceToken(kind)
  if (namespace !== undefined) return `${resource}/${namespace}`
  return isTwoSided(resource) ? `${resource}/shared` : resource
}

/**
 * Watches one kind of the host for the whole fleet: the copies of every registered tenant, or what is said about them. What a tenant had there
 * before it was registered is read when it is.
 */
export async function watchHostKind(
  parts: WatcherParts,
  host: { cluster: WatchedCluster; kind: ResourceInfo; owned: Ownership; whose: 'copies' | 'reports' },
): Promise<void> {
  const { cluster, kind, owned } = host
  const resource = resourceToken(kind)
  const scope = host.whose === 'copies' ? copiesScope(parts, kind) : reportsScope(parts, kind)
  const lanes = hostLanes(parts, owned)
  const log = new KindLog({ ...parts, scope, lanes })
  const stop = new AbortController()
  let failure: { error: unknown } | undefined
  const tenants = new HostTenants({
    directory: parts.directory,
    known: () => log.known?.values() ?? [],
    isReady: () => watch.synced,
    mark: (tenant, listed) =>
      log.publishMarker({ ...listed, tenant: tenant.name, owner: tenant.uid, cluster: cluster.identity }),
    catchUp: (tenant, ended) =>
      watch.inTurn(() => catchUp({ ...parts, cluster, scope, lanes, log, watch, tenant, signal: ended })),
    onFailed: (tenant, error) => {
      // Another cluster is a failure of the host, not of a tenant.
      if (error instanceof ClusterChangedError) {
        failure = { error }
        stop.abort(error)
      } else parts.logger.warn({ tenant, resource, err: error }, 'host objects of a tenant could not be read')
    },
    clock: parts.clock,
    random: parts.random,
  })
  const watch = new KindWatch({
    ...parts,
    ...owned,
    cluster,
    scope,
    lanes,
    log,
    owner: '',
    report: (state, message) => {
      parts.board.set({ tenant: '', resource, state, message })
      tenants.rouse()
    },
    hooks: { begun: () => tenants.beginList(), closed: (listed) => tenants.closeList(listed) },
  })
  if (host.whose === 'reports') {
    const contexts = parts.directory.tenants().flatMap(({ name }) => parts.directory.context(name) ?? [])
    await parts.unplacedCopies.read(parts.bus, watchedHost(contexts).copies, owned.signal)
  }
  const markers = fleetFilter(resource, `_.${MARKER_NAME}`)
  for (const [name, uid] of await log.readMarkers(markers, owned.signal)) tenants.recall({ name, uid })
  const unsubscribe = parts.directory.subscribe(({ type, tenant }) => {
    if (type === 'removed') log.known?.forgetTenant(tenant.name)
    tenants.onChange(type, tenant)
  })
  const signal = AbortSignal.any([owned.signal, stop.signal])
  const isSpread = parts.directory.tenants().some(({ name }) => hasOwnNamespaces(parts.directory.context(name) ?? {}))
  if (host.whose === 'reports' && isSpread) await parts.hostNamespaces.read(cluster.client, signal)
  const following = tenants.follow(signal)
  try {
    await watch.run(signal)
    if (failure !== undefined) throw failure.error
  } finally {
    unsubscribe()
    stop.abort()
    await following
  }
}

/**
 * What is said about copies carries no label: it belongs to the tenant in whose namespace it is, or to the one whose copy
 * it is about where that has none.
 */
function reportsScope(parts: WatcherParts, kind: ResourceInfo): KindScope {
  const { directory } = parts
  return {
    ...fleetScope(parts, kind),
    trustsLists: true,
    attribute: (event) =>
      directory.tenants().find(({ hostNamespace }) => hostNamespace === event.metadata.namespace)?.name ??
      parts.hostNamespaces.tenantOf(event.metadata.namespace ?? '') ??
      parts.unplacedCopies.tenantOf(event),
  }
}

function fleetScope(parts: WatcherParts, kind: ResourceInfo): Omit<KindScope, 'attribute'> {
  const resource = resourceToken(kind)
  return {
    side: 'host',
    resource: kind,
    positionKey: `watcher.host.${resource}`,
    knownFilter: fleetFilter(resource),
    partitionOf: (tenant) => partitionOf(tenant, parts.partitions),
    ownerOf: (tenant) => parts.directory.tenant(tenant)?.uid,
    owners: () => parts.directory.tenants().map(({ name, uid }) => ({ tenant: name, owner: uid })),
  }
}

function copiesScope(parts: WatcherParts, kind: ResourceInfo): KindScope {
  const { directory, metrics, logger } = parts
  const resource = resourceToken(kind)
  const warned = new Set<string>()
  return {
    ...fleetScope(parts, kind),
    labelSelector: LABELS.tenant,
    attribute: (object) => {
      const placeOf = (tenant: string): TenantPlace | undefined => directory.context(tenant)
      const attribution = attribute(object, placeOf, kind.namespaced)
      if (!('dropped' in attribution)) {
        if (!kind.namespaced) parts.unplacedCopies.note(attribution.tenant, object.metadata.name ?? '')
        if (kind.kind === 'Namespace') parts.hostNamespaces.note(attribution.tenant, object)
        return attribution.tenant
      }
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
  }
}

function hostLanes(parts: WatcherParts, owned: Ownership): LaneSet {
  return new LaneSet({
    publisher: parts.publisher,
    windows: parts.windows,
    limit: WAITING_LIMIT,
    held: owned.held,
    onRefused: (subject, error) => parts.logger.error({ subject, err: error }, 'the log refuses a change'),
  })
}
