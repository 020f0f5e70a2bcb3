import { type Bus, type Kv, openKv } from '#libs/bus'

/** Which cluster was onboarded: the uid of its namespace `kube-system`. */
export type ClusterIdentity = { uid: string }

/** Bucket of the clusters' identities; keys are {@link HOST_IDENTITY} and those of {@link tenantIdentityKey}. */
export const IDENTITIES_BUCKET = 'causeway-identities'

export const HOST_IDENTITY = 'host'

/** A tenant's key; the uid of its registration tells it from an earlier tenant of the same name. */
export function tenantIdentityKey(tenant: { name: string; uid: string }): string {
  return `tenant.${tenant.name}.${tenant.uid}`
}

/** Whose a cluster is: the first tenant that was followed there has it for as long as it is registered. */
export type ClusterClaim = { tenant: string }

/** Opens the bucket of claims; keys are the clusters' identities, values name tenants by {@link tenantIdentityKey}. */
export function openClusterClaims(bus: Bus, replicas: number): Promise<Kv<ClusterClaim>> {
  return openKv<ClusterClaim>(bus, {
    bucket: 'causeway-clusters',
    replicas,
    description: 'which tenant has which cluster',
  })
}

/** Opens the bucket in which the watchers keep which cluster is behind each kubeconfig. */
export function openClusterIdentities(bus: Bus, replicas: number): Promise<Kv<ClusterIdentity>> {
  return openKv<ClusterIdentity>(bus, {
    bucket: IDENTITIES_BUCKET,
    replicas,
    description: 'which cluster is behind each kubeconfig',
  })
}
