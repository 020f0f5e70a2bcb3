import type { KubeObject } from '#libs/kube-model'
import { LABELS } from '#libs/translation'

/** Why a host object is nobody's: label values of `METRICS.watchDropped`. */
export const DROP_REASONS = ['unknown-tenant', 'outside-namespace'] as const

export type DropReason = (typeof DROP_REASONS)[number]

export type Attribution = { tenant: string } | { dropped: DropReason; tenant: string }

/**
 * The tenant that a host object belongs to. Its label alone proves nothing, since anyone may set it: the object must
 * also be in that tenant's own namespace.
 */
export function attribute(
  object: KubeObject,
  hostNamespaceOf: (tenant: string) => string | undefined,
  namespaced = true,
): Attribution {
  const tenant = object.metadata.labels?.[LABELS.tenant] ?? ''
  const hostNamespace = hostNamespaceOf(tenant)
  if (hostNamespace === undefined) return { dropped: 'unknown-tenant', tenant }
  // A copy without namespace is known by its stamps alone, which whoever decides about it checks.
  if (!namespaced) return { tenant }
  return object.metadata.namespace === hostNamespace ? { tenant } : { dropped: 'outside-namespace', tenant }
}
