import type { JsonObject, KubeObject, ObjectRef } from '#libs/kube-model'
import { storageClassOwner } from '../../classes.ts'
import { asName, asObject } from '../../json.ts'
import type { PairInput, PairWrite } from '../../kind.ts'
import { refOf } from '../../metadata.ts'
import { patchVirtual } from '../../patches.ts'
import { LABELS, virtualRefOf } from '../../stamps.ts'
import type { Related } from '../../view.ts'
import { specOf } from './fields.ts'

/** Keeps a claim while pods use it. Set by the API, taken off by a controller of the claim's own cluster. */
const PROTECTION = 'kubernetes.io/pvc-protection'

/** Whether a volume of the tenant is one of ours, that stands for the host's volume of this claim. */
function standsFor(volume: KubeObject | undefined, claim: KubeObject): boolean {
  const isOurs = volume?.metadata.labels?.[LABELS.mirror] === 'true'
  return isOurs && asObject(asObject(volume.spec)?.claimRef)?.uid === claim.metadata.uid
}

/** Whether the claim is bound to a volume of the host: without its copy, the data is gone. */
export function isBoundHere(virtual: KubeObject, related: Pick<Related, 'virtual'>): boolean {
  const name = asName(specOf(virtual).volumeName)
  return name !== undefined && standsFor(related.virtual(volumeRef(name)), virtual)
}

/**
 * What the tenant's claim is bound to once its copy is: the volume that stands for the host's, as soon as that is there
 * for this claim.
 */
export function bindingBack({ virtual, host, related, tenant }: PairInput): JsonObject | undefined {
  const name = boundVolume(host, related)
  if (name === undefined || asName(specOf(virtual).volumeName) !== undefined) return undefined
  const isOwn = name !== specOf(host).volumeName
  const volume = related.virtual(volumeRef(name))
  if (isOwn ? volume === undefined : !standsFor(volume, virtual)) return undefined
  const className = specOf(host).storageClassName
  const isOpen = specOf(virtual).storageClassName === undefined && typeof className === 'string'
  const isShown = isOpen && storageClassOwner(tenant.config) !== 'tenant'
  return { volumeName: name, ...(isShown ? { storageClassName: className } : {}) }
}

/** What the volume that the host has given a claim is called in the tenant: a volume of its own may be it. */
export function boundVolume(host: KubeObject, related: Pick<Related, 'host'>): string | undefined {
  const name = asName(specOf(host).volumeName)
  const volume = name === undefined ? undefined : related.host(volumeRef(name))
  return (volume === undefined ? undefined : virtualRefOf(volume)?.ref.name) ?? name
}

/**
 * Lets a claim go whose copy is gone: nothing can use its volume any more. Where a controller of the tenant's cluster
 * does so as well, whoever comes first has done it.
 */
export function releaseClaim(virtual: KubeObject, related: Related): PairWrite[] {
  const { finalizers = [], resourceVersion } = virtual.metadata
  if (!finalizers.includes(PROTECTION)) return []
  if (related.usersOf(refOf(virtual, 'persistentvolumeclaims')).some((pod) => related.virtual(pod) !== undefined))
    return []
  const metadata = {
    finalizers: finalizers.filter((finalizer) => finalizer !== PROTECTION),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
  return [patchVirtual(virtual, { metadata }, { rule: 'hostGone' })]
}

function volumeRef(name: string): ObjectRef {
  return { resource: 'persistentvolumes', namespace: '', name }
}
