import type { KubeObject } from '#libs/kube-model'
import type { Controller, ControllerContext } from './controller-context.ts'
import { objectKey, splitKey } from './informer.ts'
import { createWorkQueue } from './work-queue.ts'

const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection'
const VOLUME_FINALIZER = 'kubernetes.io/pv-protection'

/** Time in which a pod that is being placed can still be seen to mount a deleted claim. */
const DELETION_DELAY_MS = 200

type Pod = KubeObject & {
  spec?: {
    nodeName?: string
    volumes?: { name?: string; persistentVolumeClaim?: { claimName?: string }; ephemeral?: object }[]
  }
  status?: { phase?: string }
}

/** Lets deleted claims go when no pod mounts them any more, and deleted volumes when no claim is bound to them. */
export function startVolumeProtectionController(context: ControllerContext): Controller {
  const { api } = context
  const pods = context.informers.of('pods')
  const claims = createWorkQueue({ name: 'pvc-protection', reconcile: reconcileClaim, ...context })
  const volumes = createWorkQueue({ name: 'pv-protection', reconcile: reconcileVolume, ...context })

  context.informers.of('persistentvolumeclaims').onChange(({ object, isDeleted }) => {
    if (!isDeleted && object.metadata.deletionTimestamp !== undefined) claims.add(objectKey(object), DELETION_DELAY_MS)
  })
  context.informers.of('persistentvolumes').onChange(({ object, isDeleted }) => {
    if (!isDeleted && object.metadata.deletionTimestamp !== undefined) volumes.add(objectKey(object))
  })
  pods.onChange(({ object, isDeleted }) => {
    if (!isDeleted && isMounting(object)) return
    for (const name of claimNames(object)) claims.add(`${object.metadata.namespace ?? ''}/${name}`)
  })

  function reconcileClaim(key: string): void {
    const { namespace, name } = splitKey(key)
    const claim = api.get('persistentvolumeclaims', namespace, name)
    if (claim === undefined || !isHeld(claim, CLAIM_FINALIZER)) return
    const isUsed = pods.inNamespace(namespace).some((pod) => isMounting(pod) && claimNames(pod).includes(name))
    if (!isUsed) api.update('persistentvolumeclaims', without(claim, CLAIM_FINALIZER))
  }

  function reconcileVolume(key: string): void {
    const volume = api.get('persistentvolumes', undefined, splitKey(key).name)
    if (volume === undefined || !isHeld(volume, VOLUME_FINALIZER)) return
    const { phase } = (volume['status'] ?? {}) as { phase?: string }
    if (phase !== 'Bound') api.update('persistentvolumes', without(volume, VOLUME_FINALIZER))
  }

  return {
    close: () => {
      claims.close()
      volumes.close()
    },
  }
}

function isHeld({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer)
}

function without(object: KubeObject, finalizer: string): KubeObject {
  const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer)
  return { ...object, metadata: { ...object.metadata, finalizers } }
}

/** A pod without a node has not mounted anything yet, one that has ended not any more. */
function isMounting(object: KubeObject): boolean {
  const { spec, status } = object as Pod
  return Boolean(spec?.nodeName) && status?.phase !== 'Succeeded' && status?.phase !== 'Failed'
}

function claimNames(object: KubeObject): string[] {
  const { metadata, spec } = object as Pod
  return (spec?.volumes ?? []).flatMap((volume) => {
    if (volume.persistentVolumeClaim?.claimName) return [volume.persistentVolumeClaim.claimName]
    return volume.ephemeral === undefined ? [] : [`${metadata.name ?? ''}-${volume.name ?? ''}`]
  })
}
