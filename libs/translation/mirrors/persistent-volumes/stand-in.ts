import { cloneJson } from '#libs/kernel'
import { type KubeObject, RESOURCES, apiVersionOf } from '#libs/kube-model'
import { asObject, presentFields } from '../../json.ts'
import { LABELS } from '../../stamps.ts'

/** A claim of the tenant and its copy, which the host has bound. */
export type Claim = { virtual: KubeObject; host: KubeObject }

/**
 * A driver that there is not: nothing in the tenant's cluster tries to attach, mount or delete such a volume. Only the
 * host does anything with the one it stands for.
 */
const DRIVER = 'causeway.dev/host-volume'

/** The volume that a tenant sees for one of the host: what its claim says, and nothing of where the data is. */
export function standInFor(name: string, { virtual, host }: Claim): KubeObject {
  const claim = asObject(virtual.spec) ?? {}
  const copy = asObject(host.spec) ?? {}
  const status = asObject(host.status) ?? {}
  const { namespace = '', name: claimName = '', uid = '' } = virtual.metadata
  const requests = asObject(asObject(copy.resources)?.requests)
  return {
    apiVersion: apiVersionOf(RESOURCES.persistentvolumes),
    kind: RESOURCES.persistentvolumes.kind,
    metadata: { name, labels: { [LABELS.mirror]: 'true' } },
    spec:
      presentFields({
        capacity: cloneJson(status.capacity ?? requests),
        accessModes: cloneJson(status.accessModes ?? copy.accessModes),
        persistentVolumeReclaimPolicy: 'Delete',
        storageClassName: claim.storageClassName ?? copy.storageClassName,
        volumeMode: copy.volumeMode,
        claimRef: {
          apiVersion: 'v1',
          kind: RESOURCES.persistentvolumeclaims.kind,
          namespace,
          name: claimName,
          uid,
        },
        flexVolume: { driver: DRIVER },
      }) ?? {},
    status: { phase: 'Bound' },
  }
}
