import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { classMirror } from '../class-mirror.ts'

/** The host's StorageClasses, which the tenant's claims may name. */
export const hostStorageClasses = classMirror({
  resource: RESOURCES['storageclasses.storage.k8s.io'],
  version: 1,
  isEnabled: (config) => isEnabled(config, 'fromHost', 'storageClasses'),
  selector: (config) => config.sync.fromHost.storageClasses.selector,
  immutable: ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'],
})
