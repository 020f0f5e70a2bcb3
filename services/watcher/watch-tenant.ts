import { partitionOf, resourceFilter } from '#libs/events'
import { type ResourceInfo, resourceToken } from '#libs/kube-model'
import { type TenantEntry, tenantIdentityKey } from '#libs/runtime'
import { WatchedCluster } from './cluster.ts'
import { KindLog } from './kind-log.ts'
import type { KindScope } from './kind-scope.ts'
import { KindWatch } from './kind-watch.ts'
import { LaneSet } from './lane-set.ts'
import { superviseCluster } from './supervise-cluster.ts'
import type { Ownership, WatcherParts } from './watcher-parts.ts'

/** Changes that may wait over all kinds before their watches are read no further. */
const WAITING_LIMIT = 256

/** Watches these kinds of a tenant's cluster until the signal aborts. */
export async function watchTenant(
  parts: WatcherParts,
  watched: { tenant: TenantEntry; kinds: readonly ResourceInfo[] },
  owned: Ownership,
): Promise<void> {
  const { tenant } = watched
  const client = parts.directory.client(tenant.name)
  if (client === undefined) return
  const { signal, held, fence } = owned
  const name = tenantIdentityKey(tenant)
  const cluster = new WatchedCluster({ name, client: () => client, identities: parts.identities, claims: parts.claims })
  const lanes = new LaneSet({
    publisher: parts.publisher,
    windows: parts.windows,
    limit: WAITING_LIMIT,
    held,
    onRefused: (subject, error) => parts.logger.error({ subject, err: error }, 'the log refuses a change'),
  })
  const partition = partitionOf(tenant.name, parts.partitions)
  const kinds = watched.kinds.map((kind) => {
    const resource = resourceToken(kind)
    const scope: KindScope = {
      side: 'virtual',
      resource: kind,
      positionKey: `watcher.virtual.${tenant.name}.${resource}`,
      knownFilter: resourceFilter(partition, { tenant: tenant.name, side: 'virtual', resource }),
      attribute: () => tenant.name,
      partitionOf: () => partition,
      ownerOf: () => tenant.uid,
      owners: () => [{ tenant: tenant.name, owner: tenant.uid }],
    }
    return {
      resource,
      run: (together: AbortSignal) =>
        new KindWatch({
          ...parts,
          cluster,
          scope,
          lanes,
          log: new KindLog({ ...parts, scope, lanes }),
          fence,
          held,
          owner: tenant.uid,
          report: (state, message) => parts.board.set({ tenant: tenant.name, resource, state, message }),
        }).run(together),
    }
  })
  await superviseCluster({ parts, cluster, tenant: tenant.name, kinds, signal })
}
