import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { classMirror } from '../class-mirror.ts'

/** The host's PriorityClasses, which the tenant's pods may name. Those of Kubernetes itself every cluster has. */
export const hostPriorityClasses = classMirror({
  resource: RESOURCES['priorityclasses.scheduling.k8s.io'],
  version: 1,
  isEnabled: (config) => isEnabled(config, 'fromHost', 'priorityClasses'),
  selector: (config) => config.sync.fromHost.priorityClasses.selector,
  isWanted: ({ key }) => !key.name.startsWith('system-'),
  immutable: ['value', 'preemptionPolicy'],
})
