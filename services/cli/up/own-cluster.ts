import { ConfigError, systemClock } from '#libs/kernel'
import { createKubeClient } from '#libs/kube'
import { lazyClusterConfig } from '#libs/runtime'

type Given = { name: string; kubeconfig: string }

const TIMEOUT_MS = 5_000

/**
 * Makes sure that each tenant's cluster is neither the host nor another tenant's: copies would be copied again without
 * end, or two tenants would delete one another's pods. Clusters that do not answer are not compared.
 * @throws ConfigError naming those that are one cluster
 */
export async function requireOwnClusters(given: { hostKubeconfig: string; tenants: readonly Given[] }): Promise<void> {
  const all = [
    { what: 'the host', kubeconfig: given.hostKubeconfig },
    ...given.tenants.map(({ name, kubeconfig }) => ({ what: `tenant "${name}"`, kubeconfig })),
  ]
  const identities = await Promise.all(all.map(({ kubeconfig }) => identity(kubeconfig)))
  const problems = all.flatMap(({ what, kubeconfig }, index) => {
    const first = identities[index] === undefined ? index : identities.indexOf(identities[index])
    return first === index
      ? []
      : [
          `${what}: kubeconfig ${kubeconfig} leads to the cluster of ${all[first]?.what}; give each tenant one of its own`,
        ]
  })
  if (problems.length > 0) throw new ConfigError(problems)
}

async function identity(kubeconfig: string): Promise<string | undefined> {
  const client = createKubeClient(lazyClusterConfig(kubeconfig, systemClock))
  try {
    return (await client.clusterIdentity({ timeoutMs: TIMEOUT_MS })) || undefined
  } catch {
    return undefined
  } finally {
    await client.close()
  }
}
