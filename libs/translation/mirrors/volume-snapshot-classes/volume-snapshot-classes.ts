import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { classMirror } from '../class-mirror.ts'

/** The host's VolumeSnapshotClasses, which the tenant's VolumeSnapshots may name. */
export const volumeSnapshotClasses = classMirror({
  resource: RESOURCES['volumesnapshotclasses.snapshot.storage.k8s.io'],
  version: 1,
  isEnabled: (config) => isEnabled(config, 'fromHost', 'volumeSnapshotClasses'),
  selector: (config) => config.sync.fromHost.volumeSnapshotClasses.selector,
})
