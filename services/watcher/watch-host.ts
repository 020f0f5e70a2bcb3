import { type ResourceInfo, resourceToken } from '#libs/kube-model'
import { watchedHost } from '#libs/translation'
import { WatchedCluster } from './cluster.ts'
import { watchHostKind, watchSharedKind } from './host-kind.ts'
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
  try {
    while (!owned.signal.aborted) {
      const configs = () => parts.directory.tenants().flatMap(({ name }) => parts.directory.context(name)?.config ?? [])
      reach.widen(watchedHost(configs()))
      const widened = new AbortController()
      const unsubscribe = parts.directory.subscribe(() => {
        if (reach.lacks(watchedHost(configs()))) widened.abort(new Error('another kind is to be watched'))
      })
      const signal = AbortSignal.any([owned.signal, widened.signal])
      const host = (kind: ResourceInfo, together: AbortSignal) => ({
        cluster,
        kind,
        owned: { ...owned, signal: together },
      })
      const kinds = [
        ...reach.shared.map((kind) => ({
          resource: resourceToken(kind),
          run: (together: AbortSignal) => watchSharedKind(parts, host(kind, together)),
        })),
        ...reach.copies.map((kind) => ({
          resource: resourceToken(kind),
          run: (together: AbortSignal) => watchHostKind(parts, host(kind, together)),
        })),
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

/**
 * The kinds watched on the host. They only grow while the process runs: where a kind is switched off for the last
 * tenant, the watch must still see its copies go.
 */
class HostReach {
  readonly #copies = new Map<string, ResourceInfo>()
  readonly #shared = new Map<string, ResourceInfo>()

  get copies(): ResourceInfo[] {
    return [...this.#copies.values()]
  }

  get shared(): ResourceInfo[] {
    return [...this.#shared.values()]
  }

  widen({ copies, shared }: { copies: ResourceInfo[]; shared: ResourceInfo[] }): void {
    for (const kind of copies) this.#copies.set(resourceToken(kind), kind)
    for (const kind of shared) this.#shared.set(resourceToken(kind), kind)
  }

  lacks({ copies, shared }: { copies: ResourceInfo[]; shared: ResourceInfo[] }): boolean {
    return (
      copies.some((kind) => !this.#copies.has(resourceToken(kind))) ||
      shared.some((kind) => !this.#shared.has(resourceToken(kind)))
    )
  }
}
