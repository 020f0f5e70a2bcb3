import type { ObjectRef } from '#libs/kube-model'
import { type SelectorConfig, type TenantConfig, isEnabled } from '#libs/sync-config'
import { stringMap } from './json.ts'
import { matchesSelector } from './match-selector.ts'
import { hostName } from './names.ts'
import { virtualRefOf } from './stamps.ts'
import type { Related, TenantContext } from './view.ts'

const STORAGE_CLASSES = 'storageclasses.storage.k8s.io'

type Context = { tenant: TenantContext; related: Pick<Related, 'virtual' | 'host'> }

/** What a class of the tenant is called on the host. */
export type ClassOnHost =
  | { kind: 'name'; name: string }
  /** The side that owns the classes has none of this name, as far as the tenant sees. */
  | { kind: 'unknown'; message: string }

/** Which side owns the storage classes, as the tenant's configuration says; none where they do not cross. */
export function storageClassOwner(config: TenantConfig): 'tenant' | 'host' | undefined {
  if (isEnabled(config, 'toHost', 'storageClasses')) return 'tenant'
  return isEnabled(config, 'fromHost', 'storageClasses') ? 'host' : undefined
}

/**
 * Finds the storage class that an object of the tenant names, by the side that the classes come from. Where none cross,
 * the tenant knows those of the host by name.
 */
export function storageClassOnHost(name: string, context: Context): ClassOnHost {
  const { tenant, related } = context
  const ref = { resource: STORAGE_CLASSES, namespace: '', name }
  const unknown = { kind: 'unknown', message: `there is no StorageClass "${name}"` } as const
  switch (storageClassOwner(tenant.config)) {
    case 'tenant':
      return related.virtual(ref) === undefined ? unknown : { kind: 'name', name: hostName(ref, tenant.name) }
    case 'host':
      return isShown(ref, tenant.config.sync.fromHost.storageClasses.selector, context)
        ? { kind: 'name', name }
        : unknown
    case undefined:
      return { kind: 'name', name }
  }
}

/** Whether the tenant is shown this class of the host's. What the tenant itself has under the name proves nothing. */
export function isShown(ref: ObjectRef, selector: SelectorConfig, { related }: Pick<Context, 'related'>): boolean {
  const host = related.host(ref)
  // Classes that tenants have on the host are their own.
  if (host === undefined || virtualRefOf(host) !== undefined) return false
  return matchesSelector(stringMap(host.metadata.labels), selector)
}
