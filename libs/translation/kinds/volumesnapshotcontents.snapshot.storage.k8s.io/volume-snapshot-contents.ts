import { cloneJson } from '#libs/kernel'
import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { asObject, textOf } from '../../json.ts'
import { hostName, hostNamespaceFor } from '../../names.ts'
import { contentOf } from '../../owned-fields.ts'
import { ownedKind } from '../owned-kind.ts'

/** Annotations by which the snapshot controller finds Secrets, in any namespace. */
const SECRET_MARK = /^snapshot\.storage\.kubernetes\.io\/.*secret/

/** The tenant's VolumeSnapshotContents, for snapshots that are there already. */
export const volumeSnapshotContents = ownedKind({
  resource: RESOURCES['volumesnapshotcontents.snapshot.storage.k8s.io'],
  version: 2,
  isEnabled: (config) => isEnabled(config, 'toHost', 'volumeSnapshotContents'),
  ownsKey: (key) => SECRET_MARK.test(key),
  content: ({ virtual, tenant }) => {
    const fields = cloneJson(contentOf(virtual))
    const spec = asObject(fields.spec) ?? {}
    const snapshot = asObject(spec.volumeSnapshotRef)
    if (snapshot !== undefined) {
      const own = { namespace: textOf(snapshot.namespace), name: textOf(snapshot.name) }
      spec.volumeSnapshotRef = {
        apiVersion: snapshot.apiVersion ?? 'snapshot.storage.k8s.io/v1',
        kind: 'VolumeSnapshot',
        namespace: hostNamespaceFor(own.namespace, tenant),
        name: hostName(own, tenant.name),
      }
    }
    return { kind: 'content', fields }
  },
  status: ({ host }) => asObject(host.status),
})
