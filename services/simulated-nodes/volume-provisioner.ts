import { errorMessage } from '#libs/kernel'
import type { Clock } from '#libs/kernel'
import { RESOURCES } from '#libs/kube-model'
import type { KubeObject } from '#libs/kube-model'
import { isAlreadyExists, isConflict, isNotFound } from '#libs/kube'
import type { KubeClient } from '#libs/kube'
import type { Logger } from '#libs/telemetry'
import { createKeyedWorkers } from './keyed-workers.ts'
import { PROVISIONER, claimReference, isDefaultClass, nextClaimStep, nextVolumeStep, standardClass } from './volume.ts'
import type { Claim, PersistentVolume, StorageClass } from './volume.ts'

const CLAIMS = RESOURCES.persistentvolumeclaims
const VOLUMES = RESOURCES.persistentvolumes
const CLASSES = RESOURCES['storageclasses.storage.k8s.io']

export type VolumeProvisionerOptions = {
  client: KubeClient
  clock: Clock
  logger: Logger
  /** The cluster's objects by `namespace/name`. */
  claims: ReadonlyMap<string, KubeObject>
  volumes: ReadonlyMap<string, KubeObject>
  classes: ReadonlyMap<string, KubeObject>
  /** Whether a pod that has not ended mounts a claim (`namespace/name`). */
  isUsed: (claimKey: string) => boolean
}

/** Plays storage, as far as anybody can see it in the API: claims get volumes, volumes go with their claims. */
export type VolumeProvisioner = {
  /** Looks at a claim (`namespace/name`). */
  claim(key: string): void
  /** Looks at a volume (`/name`). */
  volume(key: string): void
  close(): Promise<void>
}

export function createVolumeProvisioner(options: VolumeProvisionerOptions): VolumeProvisioner {
  const { client, clock, logger } = options
  const storageClass = (claim: Claim): StorageClass | undefined =>
    options.classes.get(`/${claim.spec?.storageClassName ?? ''}`) as StorageClass | undefined
  const workers = createKeyedWorkers({
    work: async (key) => {
      if (key.startsWith('/')) await workOnVolume(key)
      else await workOnClaim(key)
      return undefined
    },
    concurrency: 4,
    clock,
    random: Math.random,
    onError: (key, error) => logger.warn({ key, err: errorMessage(error) }, 'volume step failed'),
  })

  async function workOnClaim(key: string): Promise<void> {
    const claim = options.claims.get(key) as Claim | undefined
    if (claim === undefined) return
    const step = nextClaimStep(claim, {
      volumeNamed: (name) => options.volumes.get(`/${name}`) as PersistentVolume | undefined,
      storageClass: storageClass(claim),
      defaultClass: ([...options.classes.values()] as StorageClass[]).find(isDefaultClass)?.metadata.name,
      isUsed: options.isUsed(key),
    })
    if (step.kind === 'provision') {
      const volume = await unlessGone(() => client.create(VOLUMES, {}, step.volume))
      if (volume !== undefined) await bind(claim, volume as PersistentVolume)
    } else if (step.kind === 'bind') await bind(claim, step.volume)
    else if (step.kind === 'classify') {
      const { namespace = '', name = '', uid } = claim.metadata
      const body = { metadata: { uid }, spec: { storageClassName: step.storageClassName } }
      await unlessGone(() => client.patch(CLAIMS, { namespace, name }, body, { type: 'merge' }))
    }
  }

  /** Ties both together, the volume first: a claim that says it is bound must have one that knows it. */
  async function bind(claim: Claim, volume: PersistentVolume): Promise<void> {
    const { namespace = '', name = '', uid } = claim.metadata
    const target = { name: volume.metadata.name ?? '' }
    if (volume.spec?.claimRef?.uid === undefined) {
      const spec = { claimRef: claimReference(claim) }
      await unlessGone(() => client.patch(VOLUMES, target, { spec }, { type: 'merge' }))
    }
    await setPhase(volume, 'Bound')
    const annotations = {
      'pv.kubernetes.io/bind-completed': 'yes',
      'pv.kubernetes.io/bound-by-controller': 'yes',
      'volume.kubernetes.io/storage-provisioner': PROVISIONER,
    }
    const body = { metadata: { uid, annotations }, spec: { volumeName: target.name } }
    await unlessGone(() => client.patch(CLAIMS, { namespace, name }, body, { type: 'merge' }))
    const { accessModes, capacity } = volume.spec ?? {}
    const status = { phase: 'Bound', accessModes, capacity }
    await unlessGone(() =>
      client.patch(
        CLAIMS,
        { namespace, name },
        { metadata: { uid }, status },
        { type: 'merge', subresource: 'status' },
      ),
    )
  }

  async function workOnVolume(key: string): Promise<void> {
    const volume = options.volumes.get(key) as PersistentVolume | undefined
    if (volume === undefined) return
    const { namespace = '', name = '' } = volume.spec?.claimRef ?? {}
    const step = nextVolumeStep(volume, await currentClaim(namespace, name))
    if (step.kind === 'phase') await setPhase(volume, step.phase)
    else if (step.kind === 'delete') {
      const { name: own = '', uid = '' } = volume.metadata
      await unlessGone(() => client.delete(VOLUMES, { name: own }, { uid }))
    }
  }

  /** The watches of claims and volumes may be apart: before a volume goes, the cluster itself is asked. */
  async function currentClaim(namespace: string, name: string): Promise<Claim | undefined> {
    if (name === '') return undefined
    const known = options.claims.get(`${namespace}/${name}`)
    if (known !== undefined) return known as Claim
    return (await unlessGone(() => client.get(CLAIMS, { namespace, name }))) as Claim | undefined
  }

  async function setPhase({ metadata: { name = '', uid } }: PersistentVolume, phase: string): Promise<void> {
    const body = { metadata: { uid }, status: { phase } }
    await unlessGone(() => client.patch(VOLUMES, { name }, body, { type: 'merge', subresource: 'status' }))
  }

  return {
    claim: (key) => workers.add(key),
    volume: (key) => workers.add(key),
    close: () => workers.close(),
  }
}

/** Gone, replaced or made by someone else: the event of that tells what to do next. */
async function unlessGone<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    if (isNotFound(error) || isConflict(error) || isAlreadyExists(error)) return undefined
    throw error
  }
}

/** Gives the host a default class, unless it has any class already. */
export async function ensureStorageClass(client: KubeClient, classes: ReadonlyMap<string, KubeObject>): Promise<void> {
  if (classes.size > 0) return
  await unlessGone(() => client.create(CLASSES, {}, standardClass()))
}
