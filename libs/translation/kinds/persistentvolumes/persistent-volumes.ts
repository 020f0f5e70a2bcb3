import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { asObject } from '../../json.ts'
import type { Kind } from '../../kind.ts'
import { ownedKind } from '../owned-kind.ts'
import { claimBack } from './claim-back.ts'
import { volumeSecrets, volumeToHost } from './translate.ts'

const owned = ownedKind({
  resource: RESOURCES.persistentvolumes,
  version: 2,
  isEnabled: (config) => isEnabled(config, 'toHost', 'persistentVolumes'),
  references: ({ virtual }) => (virtual === undefined ? [] : volumeSecrets(virtual)),
  refersTo: ['secrets'],
  // How the host's controllers keep account of it.
  ownsKey: (key) => key.startsWith('pv.kubernetes.io/') || key.startsWith('volume.kubernetes.io/'),
  content: volumeToHost,
  hostFields: ['claimRef'],
  status: ({ host }) => asObject(host.status),
})

/** The tenant's PersistentVolumes; which claim the host has bound one to, and its status, come back. */
export const ownVolumes: Kind = {
  ...owned,
  reconcile: (input) => {
    const writes = owned.reconcile(input)
    const claim = writes.some(({ side, write }) => side === 'virtual' && write.op === 'patch' && !write.subresource)
      ? undefined
      : claimBack(input)
    return claim === undefined ? writes : [...writes, claim]
  },
}
