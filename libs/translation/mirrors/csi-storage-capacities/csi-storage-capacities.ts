import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { isShown, storageClassOwner } from '../../classes.ts'
import { asName } from '../../json.ts'
import type { Mirror } from '../../kind.ts'
import type { View } from '../../view.ts'
import { classMirror } from '../class-mirror.ts'

/** Where tenants see them, whatever namespace the driver has on the host. */
const NAMESPACE = 'kube-system'
const NAME_LIMIT = 253

/** How much storage there is where, of the classes that the tenant may name. */
export const csiStorageCapacities: Mirror = {
  ...classMirror({
    resource: RESOURCES['csistoragecapacities.storage.k8s.io'],
    version: 1,
    isEnabled: (config) => isEnabled(config, 'fromHost', 'csiStorageCapacities'),
    needsTombstone: true,
    isWanted: isOfShownClass,
    immutable: ['storageClassName', 'nodeTopology'],
  }),
  // A namespace holds no dot, so the two parts of the name cannot be taken for others.
  copiesOf: ({ resource, namespace, name }) => {
    const copy = `${namespace}.${name}`
    return copy.length > NAME_LIMIT ? [] : [{ resource, namespace: NAMESPACE, name: copy }]
  },
  originalOf: ({ resource, namespace, name }) => {
    const dot = name.indexOf('.')
    if (namespace !== NAMESPACE || dot < 1) return undefined
    return { resource, namespace: name.slice(0, dot), name: name.slice(dot + 1) }
  },
}

/** Classes of tenants are known by other names on the host, and capacities of theirs are nobody's to see. */
function isOfShownClass({ host, tenant, related }: View): boolean {
  const name = asName(host.object?.storageClassName)
  if (name === undefined) return false
  switch (storageClassOwner(tenant.config)) {
    case 'tenant':
      return false
    case 'host': {
      const ref = { resource: 'storageclasses.storage.k8s.io', namespace: '', name }
      return isShown(ref, tenant.config.sync.fromHost.storageClasses.selector, { related })
    }
    case undefined:
      return true
  }
}
