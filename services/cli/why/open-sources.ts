import { systemClock } from '#libs/kernel'
import type { Sources } from '#libs/explain'
import { type KubeClient, createKubeClient } from '#libs/kube'
import { lazyClusterConfig } from '#libs/runtime'
import { createVault, loadKeyRing } from '#libs/vault'
import type { DataFolder } from '../up/data-folder.ts'
import type { Running } from '../tenant/running.ts'

/**
 * What answers about objects are made from, for the time of `use`.
 * @throws ConfigError when the key ring cannot be read
 */
export async function withSources<T>(
  running: Running,
  folder: DataFolder,
  use: (sources: Sources) => Promise<T>,
): Promise<T> {
  const { bus, registry, host, info } = running
  const clients = new Map<string, KubeClient>()
  try {
    return await use({
      bus,
      registry,
      host,
      partitions: info.partitions,
      replicas: info.replicas,
      vault: createVault(loadKeyRing(folder.path('keys.json'))),
      now: () => systemClock.now(),
      clientOf: ({ kubeconfig }) => {
        const client = clients.get(kubeconfig) ?? createKubeClient(lazyClusterConfig(kubeconfig, systemClock))
        clients.set(kubeconfig, client)
        return client
      },
    })
  } finally {
    await Promise.all([...clients.values()].map((client) => client.close()))
  }
}
