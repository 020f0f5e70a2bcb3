import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { classMirror } from '../class-mirror.ts'

/** The host's IngressClasses, which the tenant's Ingresses may name. */
export const ingressClasses = classMirror({
  resource: RESOURCES['ingressclasses.networking.k8s.io'],
  version: 1,
  isEnabled: (config) => isEnabled(config, 'fromHost', 'ingressClasses'),
  selector: (config) => config.sync.fromHost.ingressClasses.selector,
  immutable: ['spec.controller'],
})
