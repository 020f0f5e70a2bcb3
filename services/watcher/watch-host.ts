import { RESOURCES, resourceToken } from '#libs/kube-model'
import { HOST_IDENTITY } from '#libs/runtime'
import { WatchedCluster } from './cluster.ts'
import { watchHostKind, watchHostNodes } from './host-kind.ts'
import { superviseCluster } from './supervise-cluster.ts'
import type { Ownership, WatcherParts } from './watcher-parts.ts'

/** What is watched on the host: copies of tenants' objects, by their label. */
const HOST_KINDS = [RESOURCES.pods, RESOURCES.configmaps, RESOURCES.secrets, RESOURCES.services] as const

/** Watches the host until the signal aborts: one watch per kind, however many tenants there are. */
export async function watchHost(parts: WatcherParts, owned: Ownership): Promise<void> {
  const cluster = new WatchedCluster({
    name: HOST_IDENTITY,
    client: () => parts.directory.host(),
    identities: parts.identities,
  })
  const kinds = [
    {
      resource: resourceToken(RESOURCES.nodes),
      run: (signal: AbortSignal) =>
        watchHostNodes(parts, { cluster, kind: RESOURCES.nodes, owned: { ...owned, signal } }),
    },
    ...HOST_KINDS.map((kind) => ({
      resource: resourceToken(kind),
      run: (signal: AbortSignal) => watchHostKind(parts, { cluster, kind, owned: { ...owned, signal } }),
    })),
  ]
  try {
    await superviseCluster({ parts, cluster, tenant: '', kinds, signal: owned.signal })
  } finally {
    parts.board.remove('', { gone: false })
  }
}
