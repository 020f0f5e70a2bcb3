import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import type { Mirror } from '../../kind.ts'
import { decideStandIn } from './decide-stand-in.ts'

/** A tenant sees a volume for each of its claims that the host has bound. */
export const persistentVolumes: Mirror = {
  resource: RESOURCES.persistentvolumes,
  version: 1,
  isEnabled: (config) => isEnabled(config, 'toHost', 'persistentVolumeClaims'),
  onlyWhileUsed: true,
  // The claim's copy says all that the tenant is to see, and nobody needs to read volumes of the host.
  readsOriginals: false,
  virtualWrites: ['create', 'patch', 'patch/status', 'delete'],
  decide: decideStandIn,
}
