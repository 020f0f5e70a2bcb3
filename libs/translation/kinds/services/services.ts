import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import type { Kind } from '../../kind.ts'
import { leftBehind } from './left-behind.ts'
import { reconcileService, serviceDisagreement } from './reconcile.ts'
import { serviceToHost } from './translate.ts'

/** Services cross; their addresses, node ports and status come back. */
export const services: Kind = {
  resource: RESOURCES.services,
  version: 4,
  isEnabled: (config) => isEnabled(config, 'toHost', 'services'),
  virtualWrites: ['patch', 'patch/status', 'replace'],
  lifecycle: 'plain',
  onlyWhileUsed: false,
  mayBeReplaced: true,
  readsManagedFields: true,
  references: () => [],
  requiredReferences: () => [],
  // The tenant's own API, which every cluster has under this name.
  excluded: ({ metadata }) => metadata.namespace === 'default' && metadata.name === 'kubernetes',
  toHost: serviceToHost,
  leftBehind,
  reconcile: reconcileService,
  disagreement: serviceDisagreement,
}
