import type { Partition } from '#libs/events'
import { type KubeObject, type ResourceInfo, type Side, resourceToken } from '#libs/kube-model'
import { kindFor } from '#libs/translation'

/** Whether translation reads who has set which field of these objects. */
export function needsManagedFields({ side, resource }: Pick<KindScope, 'side' | 'resource'>): boolean {
  return side === 'virtual' && kindFor(resourceToken(resource))?.readsManagedFields === true
}

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
  /** The only namespace that is watched. @default all */
  namespace?: string
  /** Whether what a list misses is gone without having been read by name: for objects that no deletion follows from. */
  trustsLists?: boolean
  /** Whose change an object is: a tenant's name, empty for all tenants', undefined for nobody's. */
  attribute(object: KubeObject): string | undefined
  partitionOf(tenant: string): Partition
  /** What tells a tenant from an earlier one of its name; undefined for nobody. */
  ownerOf(tenant: string): string | undefined
  /** Whom it speaks for now: each with what tells it from an earlier one of its name. */
  owners(): { tenant: string; owner: string }[]
}
