import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { classMirror } from '../class-mirror.ts'

/** The host's CSIDrivers, which its StorageClasses name. */
export const csiDrivers = classMirror({
  resource: RESOURCES['csidrivers.storage.k8s.io'],
  version: 1,
  isEnabled: (config) => isEnabled(config, 'fromHost', 'csiDrivers'),
  immutable: ['spec.attachRequired', 'spec.volumeLifecycleModes'],
})
