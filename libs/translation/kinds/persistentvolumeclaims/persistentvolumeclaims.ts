import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import type { Kind } from '../../kind.ts'
import { isBoundHere, releaseClaim } from './binding.ts'
import { claimDisagreement, reconcileClaim } from './reconcile.ts'
import { claimReferences, requiredClaimReferences } from './references.ts'
import { claimToHost } from './translate.ts'

/**
 * Claims cross; binding, size and status come back. A claim and its copy stand for one volume: as with pods, the one
 * does not outlive the other, since a claim made anew would have other data.
 */
export const persistentVolumeClaims: Kind = {
  resource: RESOURCES.persistentvolumeclaims,
  version: 2,
  isEnabled: (config) => isEnabled(config, 'toHost', 'persistentVolumeClaims'),
  virtualWrites: ['patch', 'patch/status', 'delete'],
  lifecycle: 'pod',
  onlyWhileUsed: false,
  references: claimReferences,
  requiredReferences: requiredClaimReferences,
  followsReferences: ['persistentvolumes'],
  informs: ['persistentvolumes'],
  excluded: () => false,
  hasRun: isBoundHere,
  release: releaseClaim,
  toHost: claimToHost,
  reconcile: reconcileClaim,
  disagreement: claimDisagreement,
}
