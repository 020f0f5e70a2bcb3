import { cloneJson } from '#libs/kernel'
import { type JsonObject, type KubeObject, type ObjectRef, RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { isShown } from '../../classes.ts'
import { asName, asObject, presentFields } from '../../json.ts'
import type { Kind, PairInput, TranslateInput } from '../../kind.ts'
import { hostName } from '../../names.ts'
import { contentOf } from '../../owned-fields.ts'
import { type Content, ownedKind } from '../owned-kind.ts'

const CLASSES = 'volumesnapshotclasses.snapshot.storage.k8s.io'
const CONTENTS = 'volumesnapshotcontents.snapshot.storage.k8s.io'

const owned = ownedKind({
  resource: RESOURCES['volumesnapshots.snapshot.storage.k8s.io'],
  version: 2,
  isEnabled: (config) => isEnabled(config, 'toHost', 'volumeSnapshots'),
  references: ({ virtual }) => (virtual === undefined ? [] : sources(virtual)),
  content,
  status: statusBack,
})

/**
 * The tenant's VolumeSnapshots. As with claims, a snapshot and its copy stand for one state of a volume: the one does
 * not outlive the other, since one that is made anew would hold other data.
 */
export const volumeSnapshots: Kind = {
  ...owned,
  lifecycle: 'pod',
  virtualWrites: [...owned.virtualWrites, 'delete'],
  // Only what the log tells: a snapshot that the tenant's own controllers took never had a copy.
  hasRun: () => false,
}

function content({ virtual, tenant, related }: TranslateInput): Content {
  const fields = cloneJson(contentOf(virtual))
  const spec = asObject(fields.spec) ?? {}
  const source = asObject(spec.source) ?? {}
  const namespace = virtual.metadata.namespace ?? ''
  const claim = asName(source.persistentVolumeClaimName)
  if (claim !== undefined) source.persistentVolumeClaimName = hostName({ namespace, name: claim }, tenant.name)
  const made = asName(source.volumeSnapshotContentName)
  if (made !== undefined) {
    if (!isEnabled(tenant.config, 'toHost', 'volumeSnapshotContents')) {
      return { kind: 'reject', reason: 'Unsupported', message: 'VolumeSnapshotContents do not cross to the host' }
    }
    source.volumeSnapshotContentName = hostName({ namespace: '', name: made }, tenant.name)
  }
  const name = asName(spec.volumeSnapshotClassName)
  const { enabled, selector } = tenant.config.sync.fromHost.volumeSnapshotClasses
  if (name !== undefined && enabled && !isShown({ resource: CLASSES, namespace: '', name }, selector, { related })) {
    return { kind: 'reject', reason: 'UnknownClass', message: `there is no VolumeSnapshotClass "${name}"` }
  }
  return { kind: 'content', fields }
}

/** What a snapshot is taken of, or from. */
function sources(virtual: KubeObject): ObjectRef[] {
  const source = asObject(asObject(virtual.spec)?.source)
  const claim = asName(source?.persistentVolumeClaimName)
  const made = asName(source?.volumeSnapshotContentName)
  const namespace = virtual.metadata.namespace ?? ''
  return [
    ...(claim === undefined ? [] : [{ resource: 'persistentvolumeclaims', namespace, name: claim }]),
    ...(made === undefined ? [] : [{ resource: CONTENTS, namespace: '', name: made }]),
  ]
}

/** What the host makes of it. The content that it is bound to is shown where it is one of the tenant's. */
function statusBack({ virtual, host }: PairInput): JsonObject | undefined {
  const status = asObject(host.status)
  if (status === undefined) return undefined
  const { boundVolumeSnapshotContentName: bound, ...rest } = cloneJson(status)
  const own = asObject(asObject(virtual.spec)?.source)?.volumeSnapshotContentName
  return presentFields({ ...rest, boundVolumeSnapshotContentName: bound === undefined ? undefined : own })
}
