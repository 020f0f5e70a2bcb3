import { type Write, type WriteName, writeName } from '#libs/events'
import type { ObjectKey, ObjectRef } from '#libs/kube-model'
import type { TenantConfig } from '#libs/sync-config'
import { fromHostResource, isClusterScoped, isCustomResource, toHostResource } from '#libs/translation'

const COPIES: readonly WriteName[] = ['create', 'patch', 'delete']
const ORIGINALS: readonly WriteName[] = ['patch', 'patch/status']
const MIRRORS: readonly WriteName[] = ['create', 'patch', 'patch/status', 'delete']

/**
 * Whether this write of a custom resource may ever be made, as the tenant's configuration names it. Of what it names no
 * more, or switches off, nothing is left but to take it away.
 */
export function isConfigured(target: ObjectKey, write: Write, config: TenantConfig | undefined): boolean {
  if (config === undefined) return false
  const { side, resource } = target
  const name = writeName(write)
  const [toHost, fromHost] = [toHostResource(config, resource), fromHostResource(config, resource)]
  if (side === 'host') return name === 'delete' || (toHost?.enabled === true && COPIES.includes(name))
  // The tenant's own objects are never taken away while they are what crosses.
  if (toHost?.enabled === true) return ORIGINALS.includes(name)
  return name === 'delete' || (fromHost?.enabled === true && MIRRORS.includes(name))
}

/** Whether the configuration names this custom resource. */
export function isNamed(resource: string, config: TenantConfig | undefined): boolean {
  if (config === undefined) return false
  return toHostResource(config, resource) !== undefined || fromHostResource(config, resource) !== undefined
}

/**
 * Whether the copy that a write is for has no namespace on the host. Of custom resources the configuration says so; as it
 * may name them no more, one that is to go is where its original is: without namespace, if that has none.
 */
export function isCopyClusterScoped(
  { target, write, source }: { target: ObjectKey; write: Write; source: ObjectRef },
  config: TenantConfig | undefined,
): boolean {
  const { resource } = target
  if (!isCustomResource(resource)) return isClusterScoped(resource)
  if (write.op === 'delete' && target.side === 'host') return source.namespace === ''
  return config !== undefined && toHostResource(config, resource)?.namespaced === false
}

/** The version in which a custom resource is read; undefined where each API says which it prefers. */
export function configuredVersion(config: TenantConfig | undefined, resource: string): string | undefined {
  if (config === undefined) return undefined
  return (toHostResource(config, resource) ?? fromHostResource(config, resource))?.version
}
