import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { classMirror } from '../class-mirror.ts'

/** The host's DeviceClasses, which the tenant's ResourceClaims may name. */
export const deviceClasses = classMirror({
  resource: RESOURCES['deviceclasses.resource.k8s.io'],
  version: 1,
  isEnabled: (config) => isEnabled(config, 'fromHost', 'deviceClasses'),
  selector: (config) => config.sync.fromHost.deviceClasses.selector,
})
