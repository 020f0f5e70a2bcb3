import type { TenantConfig } from '#libs/sync-config'
import { objectsIn, stringMap } from '../../json.ts'
import { matchesSelector } from '../../match-selector.ts'
import type { View } from '../../view.ts'

/** Whether the tenant is shown host nodes that none of its pods run on. */
export function showsUnusedNodes({ sync }: TenantConfig): boolean {
  const { enabled, selector } = sync.fromHost.nodes
  return enabled && (selector.all || Object.keys(selector.labels).length > 0)
}

/**
 * Whether the tenant is to have a copy of a node: the host runs one of its pods there, or its configuration shows it the
 * node. A dedicated tenant sees no nodes but its own.
 */
export function isNodeShown(view: View): boolean {
  if (isNodeUsed(view)) return true
  const { host, tenant } = view
  const { nodes, sync } = tenant.config
  if (host.object === undefined || !showsUnusedNodes(tenant.config)) return false
  const { selector } = sync.fromHost.nodes
  const matchLabels = {
    ...(selector.all ? {} : selector.labels),
    ...(nodes.model === 'dedicated' ? nodes.selector : {}),
  }
  return matchesSelector(stringMap(host.object.metadata.labels), { matchLabels })
}

/**
 * Pods of a DaemonSet do not count: the tenant's controller makes one for every node that it sees, and the two would
 * keep each other alive.
 */
function isNodeUsed({ key, related }: View): boolean {
  return related.usersOf(key).some((user) => {
    const owners = objectsIn(related.virtual(user)?.metadata.ownerReferences)
    return !owners.some(({ kind, controller }) => controller === true && kind === 'DaemonSet')
  })
}
