import type { Bus } from '#libs/bus'
import type { Clock } from '#libs/kernel'
import type { KubeClient } from '#libs/kube'
import type { TenantDirectory } from '#libs/runtime'
import type { Vault } from '#libs/vault'
import type { FleetState } from '../fleet/fleet-state.ts'
import type { Moments } from '../objects/as-of.ts'

/** What the routes answer from. */
export type ConsoleContext = {
  bus: Bus
  vault: Vault
  clock: Clock
  partitions: number
  replicas: number
  directory: Pick<TenantDirectory, 'tenants' | 'tenant' | 'context' | 'host'> & {
    client(name: string): KubeClient | undefined
  }
  /** How it stands with the fleet: followed from the first time that somebody asks. */
  fleet(): Promise<FleetState>
  moments: Moments
}
