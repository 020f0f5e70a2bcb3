import type { Clock } from '#libs/kernel'
import { type ClusterConfig, loadClusterConfig } from '#libs/kube'

/**
 * A cluster's configuration that is read when it is first needed, and again until that succeeds: a tenant whose
 * kubeconfig cannot be read keeps nobody else waiting, and is served as soon as it can.
 */
export function lazyClusterConfig(path: string, clock: Clock): ClusterConfig {
  let loaded: Promise<ClusterConfig> | undefined
  return {
    source: path,
    access: async (reason) => {
      loaded ??= loadClusterConfig({ path, env: process.env, clock })
      try {
        return await (await loaded).access(reason)
      } catch (error) {
        loaded = undefined
        throw error
      }
    },
  }
}
