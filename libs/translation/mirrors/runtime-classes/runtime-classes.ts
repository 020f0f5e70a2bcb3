import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { classMirror } from '../class-mirror.ts'

/** The host's RuntimeClasses, which the tenant's pods may name. */
export const runtimeClasses = classMirror({
  resource: RESOURCES['runtimeclasses.node.k8s.io'],
  version: 1,
  isEnabled: (config) => isEnabled(config, 'fromHost', 'runtimeClasses'),
  selector: (config) => config.sync.fromHost.runtimeClasses.selector,
  immutable: ['handler'],
})
