import type { Bus } from '#libs/bus'
import type { KubeClient } from '#libs/kube'
import type { TenantEntry, TenantRegistry } from '#libs/runtime'
import type { Vault } from '#libs/vault'

/** Where answers come from: the log, the registry, and the APIs themselves. */
export type Sources = {
  bus: Bus
  registry: TenantRegistry
  /** The host's API, and that of a tenant; whoever made the clients closes them. */
  host: KubeClient
  clientOf(tenant: TenantEntry): KubeClient
  partitions: number
  replicas: number
  /** Opens what is sealed in the log, to decide about it and to tell equal values from different ones. */
  vault: Vault
  /** Milliseconds since the epoch. */
  now(): number
}
