import { jsonEqual } from '#libs/kernel'
import type { TenantConfig } from './tenant-config.ts'

/**
 * Why one configuration of a tenant cannot follow on another: its copies would have to be in other namespaces of the host,
 * and neither pods nor what they hold can be moved. Undefined where it can.
 */
export function placementProblem(before: TenantConfig, after: TenantConfig): string | undefined {
  const key = 'sync.toHost.namespaces'
  const [was, is] = [before.sync.toHost.namespaces, after.sync.toHost.namespaces]
  if (was.enabled !== is.enabled) {
    return `${key}.enabled: says where on the host all copies are, which cannot be moved: delete the tenant and create it anew`
  }
  if (!is.enabled || jsonEqual(was.mappings.byName, is.mappings.byName)) return undefined
  return `${key}.mappings.byName: says where on the host copies are, which cannot be moved: delete the tenant and create it anew`
}
