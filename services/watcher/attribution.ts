import type { KubeObject } from '#libs/kube-model'
import { LABELS, type TenantPlace, hostNamespaceFor } from '#libs/translation'

/** Why a host object is nobody's: label values of `METRICS.watchDropped`. */
export const DROP_REASONS = ['unknown-tenant', 'outside-namespace'] as const

export type DropReason = (typeof DROP_REASONS)[number]

export type Attribution = { tenant: string } | { dropped: DropReason; tenant: string }

/**
 * The tenant that a host object belongs to. Its labels alone prove nothing, since anyone may set them: the object must
 * also be in that tenant's own namespace, or the one that stands for the tenant's namespace that it names.
 */
export function attribute(
  object: KubeObject,
  placeOf: (tenant: string) => TenantPlace | undefined,
  namespaced = true,
): Attribution {
  const tenant = object.metadata.labels?.[LABELS.tenant] ?? ''
  const place = placeOf(tenant)
  if (place === undefined) return { dropped: 'unknown-tenant', tenant }
  // A copy without namespace is known by its stamps alone, which whoever decides about it checks.
  if (!namespaced) return { tenant }
  const expected = hostNamespaceFor(object.metadata.labels?.[LABELS.namespace] ?? '', place)
  return object.metadata.namespace === expected ? { tenant } : { dropped: 'outside-namespace', tenant }
}
