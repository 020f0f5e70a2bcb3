import type { KubeClient } from '#libs/kube'
import type { Side } from '#libs/kube-model'
import type { TenantConfig } from '#libs/sync-config'
import type { Vault } from '#libs/vault'

/** The calls that the writer makes. */
export type WriterClient = Pick<
  KubeClient,
  'get' | 'listPage' | 'listPages' | 'create' | 'patch' | 'bind' | 'delete' | 'clusterIdentity' | 'request'
> &
  Partial<Pick<KubeClient, 'origin'>>

/** Where a tenant's writes go. */
export type TenantRoute = {
  /** Calls to the tenant's API. */
  client: WriterClient
  name: string
  /** The one host namespace in which its objects land, unless each of its namespaces has one of its own. */
  hostNamespace: string
  /** What of the tenant crosses: custom resources are written only where it names them. @default none are */
  config?: TenantConfig
  /** Share of the host's API relative to other tenants. @default 1 */
  weight?: number
}

/** Which tenants there are, right now. */
export type TenantDirectory = {
  host(): WriterClient
  /** Undefined for a tenant that is not registered. */
  tenant(name: string): TenantRoute | undefined
  /** Which cluster a side has been since onboarding; undefined while that is not known. */
  identity(side: Side, tenant: string): Promise<string | undefined>
}

/** Opens what is sealed in the log; what is not sealed comes back as it is. */
export type Opener = Pick<Vault, 'covers' | 'unseal' | 'unsealFields'>
