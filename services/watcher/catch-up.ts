import type { Bus } from '#libs/bus'
import { resourceFilter } from '#libs/events'
import type { Clock } from '#libs/kernel'
import { resourceToken } from '#libs/kube-model'
import type { TenantDirectory, TenantEntry } from '#libs/runtime'
import { LABELS, hasOwnNamespaces } from '#libs/translation'
import type { WatchedCluster } from './cluster.ts'
import { type KindLog, knownOf } from './kind-log.ts'
import type { KindScope } from './kind-scope.ts'
import type { KindWatch } from './kind-watch.ts'
import { type Known, nameOf } from './known-objects.ts'
import type { LaneSet } from './lane-set.ts'
import { readKnown } from './read-known.ts'

export type CatchUpOptions = {
  bus: Bus
  directory: Pick<TenantDirectory, 'context'>
  clock: Clock
  cluster: WatchedCluster
  scope: KindScope
  lanes: LaneSet
  log: KindLog
  watch: KindWatch
  tenant: TenantEntry
  signal: AbortSignal
}

/**
 * Publishes what one tenant has on the host, as a list of its own: for a tenant whose objects the fleet's watch has
 * passed over, since it was not registered. To be run between two events of that watch.
 */
export async function catchUp(options: CatchUpOptions): Promise<void> {
  const { bus, clock, cluster, scope, lanes, log, watch, tenant, signal } = options
  await watch.settled(signal)
  await cluster.verify({ signal })
  const resource = resourceToken(scope.resource)
  const filter = resourceFilter(scope.partitionOf(tenant.name), { tenant: tenant.name, side: scope.side, resource })
  const former = new Map<string, Known>()
  for (const { change } of await readKnown(bus, { filter, clock, signal })) {
    const { key, uid, resourceVersion, type } = change
    if (type === 'DELETED' || type === 'SYNCED') continue
    former.set(nameOf(key), { tenant: tenant.name, namespace: key.namespace, name: key.name, uid, resourceVersion })
  }
  const context = options.directory.context(tenant.name)
  const selection = {
    // What is in many namespaces is read of all, and told apart by `attribute`.
    ...(context !== undefined && hasOwnNamespaces(context) ? {} : { namespace: tenant.hostNamespace }),
    ...(scope.labelSelector === undefined ? {} : { labelSelector: `${LABELS.tenant}=${tenant.name}` }),
  }
  let resourceVersion = ''
  let count = 0
  for await (const page of cluster.client.listPages(scope.resource, { ...selection, signal })) {
    resourceVersion = page.resourceVersion
    for (const item of page.items) {
      if (scope.attribute(item) !== tenant.name) continue
      const name = nameOf(knownOf(tenant.name, item))
      const before = former.get(name)
      former.delete(name)
      if (before !== undefined && before.uid !== item.metadata.uid) log.publishGone(before, resourceVersion)
      log.publishRead(tenant.name, item, 'ADDED')
      count++
      await lanes.room(signal)
    }
  }
  await watch.intake.confirm([...former.values()], resourceVersion, signal)
  await watch.settled(signal)
  // A host on which nothing happens has one version for many lists.
  const marker = { tenant: tenant.name, owner: tenant.uid, cluster: cluster.identity, resourceVersion, count }
  log.publishMarker(marker, { unique: true })
  await watch.settled(signal)
}
