import { partitionFilter, partitionOf } from '#libs/events'
import { jsonEqual } from '#libs/kernel'
import { type ResourceInfo, resourceToken } from '#libs/kube-model'
import type { TenantEntry } from '#libs/runtime'
import { defaultTenantConfig } from '#libs/sync-config'
import { LABELS, watchedVirtual } from '#libs/translation'
import { leftBehind } from './left-behind.ts'
import { untilAborted } from './until-aborted.ts'
import { watchTenant } from './watch-tenant.ts'
import type { Ownership, WatcherParts } from './watcher-parts.ts'

type Running = { tenant: TenantEntry; kinds: readonly ResourceInfo[]; stop: AbortController; done: Promise<void> }

/** Watches the tenants of a partition, as they come and go, until the signal aborts. */
export async function watchPartition(parts: WatcherParts, partition: number, owned: Ownership): Promise<void> {
  const { directory, board } = parts
  const left = await leftBehind(parts.bus, {
    side: 'virtual',
    partition,
    filterOf: (resource) => partitionFilter(partition, { side: 'virtual', resource }),
    isOurs: ({ metadata }, resource) =>
      resource === 'pods' || [LABELS.mirror, LABELS.virtualNode].some((label) => metadata.labels?.[label] === 'true'),
    signal: owned.signal,
  })
  const running = new Map<string, Running>()
  const failure = Promise.withResolvers<never>()

  /**
   * What its configuration lets cross decides what is watched. It only grows while the process runs: where a kind is
   * switched off, the watch must still see the tenant's copies of host objects go.
   */
  const kindsOf = (tenant: TenantEntry, former: readonly ResourceInfo[] = []): ResourceInfo[] => {
    const wanted = watchedVirtual(directory.context(tenant.name)?.config ?? defaultTenantConfig())
    return [...new Map([...former, ...wanted].map((kind) => [resourceToken(kind), kind])).values()]
  }
  const start = (tenant: TenantEntry, after: Promise<void>, former?: readonly ResourceInfo[]): void => {
    const stop = new AbortController()
    const kinds = kindsOf(tenant, former)
    const signal = AbortSignal.any([owned.signal, stop.signal])
    // The former watch must have left its positions before the next one takes them up.
    const done = after.then(() => watchTenant(parts, { tenant, kinds }, { ...owned, signal }))
    done.catch((error: unknown) => failure.reject(error))
    running.set(tenant.name, { tenant, kinds, stop, done: done.catch(() => undefined) })
  }
  const stopTenant = (name: string): Promise<void> => {
    const former = running.get(name)
    running.delete(name)
    former?.stop.abort(new Error('the tenant was removed or changed'))
    return former?.done ?? Promise.resolve()
  }
  const unsubscribe = directory.subscribe(({ type, tenant }) => {
    if (partitionOf(tenant.name, parts.partitions) !== partition) return
    const former = running.get(tenant.name)
    const isSame =
      former?.tenant.uid === tenant.uid &&
      former.tenant.kubeconfig === tenant.kubeconfig &&
      jsonEqual(former.kinds, kindsOf(tenant, former.kinds))
    if (type !== 'removed' && isSame) return
    const stopped = stopTenant(tenant.name)
    if (type === 'removed')
      void stopped.then(() => running.has(tenant.name) || board.remove(tenant.name, { gone: true }))
    else start(tenant, stopped, former?.tenant.uid === tenant.uid ? former.kinds : [])
  })
  try {
    for (const tenant of directory.tenants())
      if (partitionOf(tenant.name, parts.partitions) === partition)
        start(tenant, Promise.resolve(), left.get(tenant.name))
    await untilAborted(failure.promise, owned.signal)
  } finally {
    unsubscribe()
    const names = [...running.keys()]
    await Promise.all(names.map((name) => stopTenant(name)))
    for (const name of names) board.remove(name, { gone: false })
  }
}
