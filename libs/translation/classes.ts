import { type TenantConfig, isEnabled } from '#libs/sync-config'
import { hostName } from './names.ts'
import { LABELS } from './stamps.ts'
import type { Related, TenantContext } from './view.ts'

/** Kinds of classes that either side may own, by resource token, with their key below `sync`. */
const CLASSES = {
  'storageclasses.storage.k8s.io': { key: 'storageClasses', what: 'storage class' },
  'priorityclasses.scheduling.k8s.io': { key: 'priorityClasses', what: 'priority class' },
} as const

export type ClassResource = keyof typeof CLASSES

/** What a class of the tenant is called on the host. */
export type ClassOnHost =
  | { kind: 'name'; name: string }
  /** No side's classes cross: what the name means on the host, if anything, is for the caller to say. */
  | { kind: 'unrelated' }
  /** The side that owns the classes has none of this name, as far as the tenant sees. */
  | { kind: 'unknown'; message: string }

/** Which side owns the classes of a kind, as the tenant's configuration says. */
export function classOwner(config: TenantConfig, resource: ClassResource): 'tenant' | 'host' | undefined {
  const { key } = CLASSES[resource]
  if (isEnabled(config, 'toHost', key)) return 'tenant'
  return isEnabled(config, 'fromHost', key) ? 'host' : undefined
}

/** Finds the class that an object of the tenant names, by the side that the classes come from. */
export function classOnHost(
  resource: ClassResource,
  name: string,
  context: { tenant: TenantContext; related: Pick<Related, 'virtual'> },
): ClassOnHost {
  const { tenant, related } = context
  const owner = classOwner(tenant.config, resource)
  if (owner === undefined) return { kind: 'unrelated' }
  const ref = { resource, namespace: '', name }
  const found = related.virtual(ref)
  const isMirror = found?.metadata.labels?.[LABELS.mirror] === 'true'
  if (found === undefined || isMirror !== (owner === 'host')) {
    return { kind: 'unknown', message: `there is no ${CLASSES[resource].what} "${name}"` }
  }
  return { kind: 'name', name: owner === 'host' ? name : hostName(ref, tenant.name) }
}
