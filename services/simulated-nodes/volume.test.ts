import { describe, expect, it } from 'vitest'
import { claimProblem, nextClaimStep, nextVolumeStep, standardClass } from './volume.ts'
import type { Claim, PersistentVolume } from './volume.ts'

const claim = (spec: Claim['spec'] = {}, phase = 'Pending'): Claim => ({
  metadata: { namespace: 'n', name: 'data', uid: 'u1' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  status: { phase },
})

const volume = (spec: PersistentVolume['spec'] = {}, phase = 'Pending'): PersistentVolume => ({
  metadata: { name: 'v', annotations: { 'pv.kubernetes.io/provisioned-by': 'causeway.dev/simulated-storage' } },
  spec: { persistentVolumeReclaimPolicy: 'Delete', ...spec },
  status: { phase },
})

const step = (subject: Claim, known: Partial<Parameters<typeof nextClaimStep>[1]> = {}) =>
  nextClaimStep(subject, {
    volumeNamed: () => undefined,
    storageClass: standardClass(),
    defaultClass: undefined,
    isUsed: false,
    ...known,
  })

describe('a claim', () => {
  it('gets a volume of what it asks for, which knows it', () => {
    expect(step(claim())).toMatchObject({
      kind: 'provision',
      volume: {
        metadata: { name: 'pvc-u1' },
        spec: { capacity: { storage: '1Gi' }, claimRef: { namespace: 'n', name: 'data', uid: 'u1' } },
      },
    })
  })

  it('waits for its first pod where its class wants that', () => {
    const storageClass = { ...standardClass(), volumeBindingMode: 'WaitForFirstConsumer' }
    expect(step(claim(), { storageClass })).toEqual({ kind: 'none' })
    expect(step(claim(), { storageClass, isUsed: true })).toMatchObject({ kind: 'provision' })
  })

  it('gets the default class when it was made before that', () => {
    expect(step(claim(), { storageClass: undefined, defaultClass: 'standard' })).toEqual({
      kind: 'classify',
      storageClassName: 'standard',
    })
  })

  it('is left to others when its class is not ours', () => {
    expect(step(claim(), { storageClass: { ...standardClass(), provisioner: 'other' } })).toEqual({ kind: 'none' })
    expect(step(claim(), { storageClass: undefined })).toEqual({ kind: 'none' })
  })

  it('is bound to the volume that it names, unless that is another claim’s', () => {
    const named = claim({ volumeName: 'v' })
    expect(step(named, { volumeNamed: () => volume() })).toMatchObject({ kind: 'bind' })
    const taken = volume({ claimRef: { namespace: 'n', name: 'other', uid: 'u2' } })
    expect(step(named, { volumeNamed: () => taken })).toEqual({ kind: 'none' })
  })

  it('keeps pods from being placed until it is bound', () => {
    expect(claimProblem('data', undefined, undefined)).toBe('persistentvolumeclaim "data" not found')
    expect(claimProblem('data', claim(), standardClass())).toBe('pod has unbound immediate PersistentVolumeClaims')
    expect(claimProblem('data', claim({}, 'Bound'), standardClass())).toBeUndefined()
  })
})

describe('a volume', () => {
  const claimRef = { namespace: 'n', name: 'data', uid: 'u1' }

  it('is available until a claim has it', () => {
    expect(nextVolumeStep(volume(), undefined)).toEqual({ kind: 'phase', phase: 'Available' })
    expect(nextVolumeStep(volume({ claimRef }, 'Bound'), claim())).toEqual({ kind: 'none' })
  })

  it('is released when its claim is gone or another one has its name, and then deleted or kept', () => {
    expect(nextVolumeStep(volume({ claimRef }, 'Bound'), undefined)).toEqual({ kind: 'phase', phase: 'Released' })
    const successor = { ...claim(), metadata: { namespace: 'n', name: 'data', uid: 'u2' } }
    expect(nextVolumeStep(volume({ claimRef }, 'Released'), successor)).toEqual({ kind: 'delete' })
    const kept = volume({ claimRef, persistentVolumeReclaimPolicy: 'Retain' }, 'Released')
    expect(nextVolumeStep(kept, undefined)).toEqual({ kind: 'none' })
  })
})
