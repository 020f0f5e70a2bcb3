import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { classMirror } from '../class-mirror.ts'

/** The host's CSINodes of those nodes that the tenant sees. */
export const csiNodes = classMirror({
  resource: RESOURCES['csinodes.storage.k8s.io'],
  version: 1,
  isEnabled: (config) => isEnabled(config, 'fromHost', 'csiNodes'),
  // A CSINode of a node that the tenant does not see means nothing to it.
  isWanted: ({ key, related }) => related.virtual({ ...key, resource: 'nodes' }) !== undefined,
  follows: 'nodes',
})
