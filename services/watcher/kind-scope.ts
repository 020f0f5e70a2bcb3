import type { Partition } from '#libs/events'
import type { KubeObject, ResourceInfo, Side } from '#libs/kube-model'

/** What one watch speaks for: a kind of one tenant, or a kind of the host for the whole fleet. */
export type KindScope = {
  side: Side
  resource: ResourceInfo
  /** Where its position is kept. */
  positionKey: string
  /** Matches the log's subjects of all its objects. */
  knownFilter: string
  /** With one, an object leaves the watch also when it loses the label. */
  labelSelector?: string
  /** Whose change an object is: a tenant's name, empty for all tenants', undefined for nobody's. */
  attribute(object: KubeObject): string | undefined
  partitionOf(tenant: string): Partition
  /** Whom it speaks for now: each with what tells it from an earlier one of its name. */
  owners(): { tenant: string; owner: string }[]
}
