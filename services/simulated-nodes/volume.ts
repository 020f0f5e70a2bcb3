import type { KubeObject } from '#libs/kube-model'
import type { Pod } from './pod.ts'

/** Provisioner of the simulated storage; also marks the volumes that it made. */
export const PROVISIONER = 'causeway.dev/simulated-storage'
const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by'

/** A PersistentVolumeClaim, the fields that the simulation reads. */
export type Claim = KubeObject & {
  spec?: {
    accessModes?: string[]
    resources?: { requests?: { storage?: string } }
    storageClassName?: string
    volumeMode?: string
    volumeName?: string
  }
  status?: { phase?: string }
}

/** A PersistentVolume, the fields that the simulation reads. */
export type PersistentVolume = KubeObject & {
  spec?: {
    accessModes?: string[]
    capacity?: { storage?: string }
    claimRef?: { namespace?: string; name?: string; uid?: string }
    persistentVolumeReclaimPolicy?: string
  }
  status?: { phase?: string }
}

export type StorageClass = KubeObject & {
  provisioner?: string
  reclaimPolicy?: string
  volumeBindingMode?: string
}

/** What is to be done about a claim. */
export type ClaimStep =
  | { kind: 'none' }
  /** Make a volume for it. */
  | { kind: 'provision'; volume: PersistentVolume }
  /** Give it the default class, which was not there yet when it was made. */
  | { kind: 'classify'; storageClassName: string }
  /** Tie the claim and this volume together. */
  | { kind: 'bind'; volume: PersistentVolume }

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class'

/** Whether claims that name no class get this one. */
export function isDefaultClass({ metadata }: StorageClass): boolean {
  return metadata.annotations?.[DEFAULT_CLASS] === 'true'
}

/** The class that simulated hosts have when they have none. */
export function standardClass(): StorageClass {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'standard', annotations: { [DEFAULT_CLASS]: 'true' } },
    provisioner: PROVISIONER,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
  }
}

/** Decides about a claim; `isUsed`: a pod waits for it. */
export function nextClaimStep(
  claim: Claim,
  known: {
    volumeNamed: (name: string) => PersistentVolume | undefined
    storageClass: StorageClass | undefined
    /** Name of the class for claims that name none. */
    defaultClass: string | undefined
    isUsed: boolean
  },
): ClaimStep {
  if (claim.metadata.deletionTimestamp !== undefined || claim.status?.phase === 'Bound') return { kind: 'none' }
  const wanted = claim.spec?.volumeName
  const volume = known.volumeNamed(wanted || volumeName(claim))
  if (volume !== undefined) return isFree(volume, claim) ? { kind: 'bind', volume } : { kind: 'none' }
  const { storageClass, defaultClass } = known
  if (!wanted && claim.spec?.storageClassName === undefined && defaultClass !== undefined) {
    return { kind: 'classify', storageClassName: defaultClass }
  }
  if (wanted || storageClass?.provisioner !== PROVISIONER) return { kind: 'none' }
  const waits = storageClass.volumeBindingMode === 'WaitForFirstConsumer' && !known.isUsed
  return waits ? { kind: 'none' } : { kind: 'provision', volume: volumeFor(claim, storageClass) }
}

const volumeName = (claim: Claim): string => `pvc-${claim.metadata.uid ?? ''}`

/** Whether a volume is nobody's, or this claim's already. */
function isFree(volume: PersistentVolume, { metadata }: Claim): boolean {
  const reference = volume.spec?.claimRef
  if (volume.metadata.deletionTimestamp !== undefined) return false
  if (reference === undefined) return true
  const isNamed = reference.namespace === metadata.namespace && reference.name === metadata.name
  return isNamed && (reference.uid === undefined || reference.uid === metadata.uid)
}

/** The reference by which a volume knows its claim. */
export function claimReference({ metadata }: Claim): Record<string, unknown> {
  const { namespace, name, uid, resourceVersion } = metadata
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion }
}

/** A volume of what a claim asks for. No node has the folder: nothing is stored. */
function volumeFor(claim: Claim, storageClass: StorageClass): PersistentVolume {
  const { accessModes = [], resources, volumeMode = 'Filesystem' } = claim.spec ?? {}
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volumeName(claim), annotations: { [PROVISIONED_BY]: PROVISIONER } },
    spec: {
      accessModes,
      capacity: { storage: resources?.requests?.storage ?? '0' },
      claimRef: claimReference(claim),
      hostPath: { path: `/var/lib/causeway-simulated/${volumeName(claim)}`, type: '' },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: storageClass.metadata.name,
      volumeMode,
    } as PersistentVolume['spec'],
  } as PersistentVolume
}

/** What becomes of a volume: its phase, or its end when the claim that it was made for is gone. */
export function nextVolumeStep(
  volume: PersistentVolume,
  claim: Claim | undefined,
): { kind: 'none' } | { kind: 'phase'; phase: string } | { kind: 'delete' } {
  const { claimRef, persistentVolumeReclaimPolicy: policy } = volume.spec ?? {}
  const phase = volume.status?.phase ?? 'Pending'
  if (claimRef?.uid === undefined) {
    const isNew = phase === 'Pending' && volume.metadata.deletionTimestamp === undefined
    return isNew ? { kind: 'phase', phase: 'Available' } : { kind: 'none' }
  }
  if (claim?.metadata.uid === claimRef.uid) return { kind: 'none' }
  if (phase !== 'Released') return { kind: 'phase', phase: 'Released' }
  const isOurs = volume.metadata.annotations?.[PROVISIONED_BY] === PROVISIONER
  const isOver = volume.metadata.deletionTimestamp !== undefined
  return policy === 'Delete' && isOurs && !isOver ? { kind: 'delete' } : { kind: 'none' }
}

/** Names of the claims that a pod mounts; those of ephemeral volumes are named after pod and volume. */
export function claimsOf(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    if (volume.persistentVolumeClaim?.claimName) return [volume.persistentVolumeClaim.claimName]
    return volume.ephemeral === undefined ? [] : [`${pod.metadata.name ?? ''}-${volume.name ?? ''}`]
  })
}

/** Why a pod cannot be placed because of a claim, in the scheduler's words; `undefined` when its claims are bound. */
export function claimProblem(
  name: string,
  claim: Claim | undefined,
  storageClass: StorageClass | undefined,
): string | undefined {
  if (claim === undefined) return `persistentvolumeclaim ${JSON.stringify(name)} not found`
  if (claim.metadata.deletionTimestamp !== undefined)
    return `persistentvolumeclaim ${JSON.stringify(name)} is being deleted`
  if (claim.status?.phase === 'Bound') return undefined
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer'
    ? 'pod has unbound PersistentVolumeClaims'
    : 'pod has unbound immediate PersistentVolumeClaims'
}
