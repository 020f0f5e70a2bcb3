import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import type { Kind } from '../../kind.ts'
import { forbiddenChange } from './live-changes.ts'
import { isOnOwnNode } from './placement.ts'
import { reconcilePod } from './reconcile.ts'
import { podReferences, requiredPodReferences } from './references.ts'
import { podToHost } from './translate.ts'

/** Pods cross whole; their status, their node and how they end come back. */
export const pods: Kind = {
  resource: RESOURCES.pods,
  version: 2,
  isEnabled: (config) => isEnabled(config, 'toHost', 'pods'),
  // Conditions of readiness gates are set by the tenant's controllers and waited for by the host's kubelet.
  hostWrites: ['create', 'patch', 'patch/status', 'patch/resize', 'patch/ephemeralcontainers', 'delete'],
  virtualWrites: ['patch', 'patch/status', 'bind', 'delete'],
  lifecycle: 'pod',
  onlyWhileUsed: false,
  refersTo: ['configmaps', 'secrets'],
  references: podReferences,
  requiredReferences: requiredPodReferences,
  excluded: () => false,
  isPlacedInTenant: isOnOwnNode,
  toHost: podToHost,
  reconcile: reconcilePod,
  disagreement: (input) => {
    const message = forbiddenChange(input)
    return message === undefined ? undefined : { reason: 'PolicyRejected', message }
  },
}
