import { fleetFilter } from '#libs/events'
import { type ResourceInfo, resourceToken } from '#libs/kube-model'
import { type HostKinds, watchedHost } from '#libs/translation'
import { WatchedCluster } from './cluster.ts'
import { sharedName, watchHostKind, watchSharedKind } from './host-kind.ts'
import { leftBehind } from './left-behind.ts'
import { superviseCluster } from './supervise-cluster.ts'
import type { Ownership, WatcherParts } from './watcher-parts.ts'

/**
 * Watches the host until the signal aborts: one watch per kind, however many tenants there are, of every kind that some
 * tenant's configuration asks for.
 */
export async function watchHost(parts: WatcherParts, owned: Ownership): Promise<void> {
  const cluster = new WatchedCluster({
    name: 'host',
    client: () => parts.directory.host(),
    identities: parts.identities,
  })
  const reach = new HostReach()
  const tenants = () => parts.directory.tenants().flatMap(({ name }) => parts.directory.context(name) ?? [])
  try {
    reach.widen(await copiesLeft(parts, { wanted: watchedHost(tenants()), owned }))
    while (!owned.signal.aborted) {
      reach.widen(watchedHost(tenants()))
      const widened = new AbortController()
      const unsubscribe = parts.directory.subscribe(() => {
        if (reach.lacks(watchedHost(tenants()))) widened.abort(new Error('another kind is to be watched'))
      })
      const signal = AbortSignal.any([owned.signal, widened.signal])
      const host = (kind: ResourceInfo, together: AbortSignal) => ({
        cluster,
        kind,
        owned: { ...owned, signal: together },
      })
      const kinds = [
        ...reach.of('shared').map((kind) => ({
          resource: sharedName(kind),
          run: (together: AbortSignal) => watchSharedKind(parts, host(kind, together)),
        })),
        ...reach.named.map(({ resource, namespace }) => ({
          resource: sharedName(resource, namespace),
          run: (together: AbortSignal) => watchSharedKind(parts, { ...host(resource, together), namespace }),
        })),
        ...(['copies', 'reports'] as const).flatMap((whose) =>
          reach.of(whose).map((kind) => ({
            resource: resourceToken(kind),
            run: (together: AbortSignal) => watchHostKind(parts, { ...host(kind, together), whose }),
          })),
        ),
      ]
      try {
        await superviseCluster({ parts, cluster, tenant: '', kinds, signal })
      } finally {
        unsubscribe()
      }
    }
  } finally {
    parts.board.remove('', { gone: false })
  }
}

const WHOSE = ['copies', 'shared', 'reports'] as const
type Whose = (typeof WHOSE)[number]

/** Kinds that nobody asks for and of which tenants have copies: they were switched off while nothing was watched. */
async function copiesLeft(
  { bus, directory }: WatcherParts,
  { wanted, owned }: { wanted: HostKinds; owned: Ownership },
): Promise<HostKinds> {
  const watched = new Set(wanted.copies.map(resourceToken))
  const filterOf = (resource: string): string => fleetFilter(resource)
  const left = await leftBehind(bus, { side: 'host', watched, filterOf, isOurs: () => true, signal: owned.signal })
  const copies = directory.tenants().flatMap(({ name }) => left.get(name) ?? [])
  return { copies, shared: [], named: [], reports: [] }
}

/**
 * The kinds watched on the host. They only grow while the process runs: where a kind is switched off for the last
 * tenant, the watch must still see its copies go.
 */
class HostReach {
  readonly #kinds = {
    copies: new Map<string, ResourceInfo>(),
    shared: new Map<string, ResourceInfo>(),
    reports: new Map<string, ResourceInfo>(),
  } as const satisfies Record<Whose, Map<string, ResourceInfo>>
  readonly #named = new Map<string, HostKinds['named'][number]>()

  of(whose: Whose): ResourceInfo[] {
    return [...this.#kinds[whose].values()]
  }

  get named(): HostKinds['named'] {
    return [...this.#named.values()]
  }

  widen(kinds: HostKinds): void {
    for (const whose of WHOSE) for (const kind of kinds[whose]) this.#kinds[whose].set(resourceToken(kind), kind)
    for (const each of kinds.named) this.#named.set(sharedName(each.resource, each.namespace), each)
  }

  lacks(kinds: HostKinds): boolean {
    return (
      WHOSE.some((whose) => kinds[whose].some((kind) => !this.#kinds[whose].has(resourceToken(kind)))) ||
      kinds.named.some((each) => !this.#named.has(sharedName(each.resource, each.namespace)))
    )
  }
}
