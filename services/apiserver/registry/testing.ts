import type { KubeObject } from '#libs/kube-model'
import { ResourceCatalog } from '../discovery/resource-catalog.ts'
import { ClusterStore } from '../storage/store.ts'
import { ServiceAccountTokens } from '../tokens/service-account-tokens.ts'
import { bootstrapCluster } from './bootstrap.ts'
import type { Cluster } from './cluster.ts'
import { createEmbeddedApi } from './embedded-api.ts'
import { ServiceNetwork } from './service-network.ts'
import type { ServiceNetworkOptions } from './service-network.ts'

/** A cluster in memory, for tests: time stands still at `now`, ids count up. */
export function createTestCluster(options: ServiceNetworkOptions & { now?: number } = {}): Cluster & {
  api: ReturnType<typeof createEmbeddedApi>
} {
  const store = new ClusterStore({ file: ':memory:' })
  let count = 0
  const clock = { now: () => options.now ?? 1_700_000_000_000, sleep: () => Promise.resolve() }
  const newUid = (): string => `00000000-0000-4000-8000-${String((count += 1)).padStart(12, '0')}`
  const cluster: Cluster = {
    name: 'test',
    store,
    clock,
    newUid,
    random: () => 0.5,
    network: new ServiceNetwork(store, options),
    catalog: new ResourceCatalog(),
    tokens: new ServiceAccountTokens({ store, clock, newUid }),
  }
  const api = createEmbeddedApi(cluster)
  bootstrapCluster(cluster, api, 443)
  return { ...cluster, api }
}

/** A pod with one container. */
export function podNamed(name: string, spec: object = {}): KubeObject {
  return { metadata: { name }, spec: { containers: [{ name: 'c', image: 'img:1' }], ...spec } }
}
