import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { contentOf } from '../../owned-fields.ts'
import { ownedKind } from '../owned-kind.ts'
import { classSecrets, translateParameters } from './parameters.ts'

/** Says which class claims get that name none. That of a tenant is not the host's. */
const DEFAULT_MARKS = new Set([
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
])

/** The tenant's StorageClasses, for its claims. */
export const storageClasses = ownedKind({
  resource: RESOURCES['storageclasses.storage.k8s.io'],
  version: 1,
  isEnabled: (config) => isEnabled(config, 'toHost', 'storageClasses'),
  references: ({ virtual }) => classSecrets(virtual),
  refersTo: ['secrets'],
  ownsKey: (key) => DEFAULT_MARKS.has(key),
  content: ({ virtual, tenant }) => {
    const translated = translateParameters(virtual, tenant)
    if ('problem' in translated) return { kind: 'reject', reason: 'Unsupported', message: translated.problem }
    return { kind: 'content', fields: { ...contentOf(virtual), ...translated } }
  },
  immutable: ['provisioner', 'parameters', 'reclaimPolicy', 'volumeBindingMode'],
})
