import { describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { hostRefOf } from '../../names.ts'
import { TENANT, memoryRelated, objectOf } from '../../testing/index.ts'
import type { View } from '../../view.ts'
import { decideStandIn } from './decide-stand-in.ts'

const key = { resource: 'persistentvolumes', namespace: '', name: 'pvc-1' }
const claimRef = { resource: 'persistentvolumeclaims', namespace: 'default', name: 'data' }
const claim = objectOf('PersistentVolumeClaim', 'data', {
  metadata: { uid: 'claim-uid' },
  spec: { storageClassName: 'fast' },
})
const copy: KubeObject = {
  metadata: { name: 'copy', annotations: { 'causeway.dev/uid': 'claim-uid' } },
  spec: { volumeName: 'pvc-1', volumeMode: 'Filesystem', accessModes: ['ReadWriteOnce'] },
  status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
}

function viewOf(volume?: KubeObject, options: { used?: boolean; capacity?: string; synced?: boolean } = {}): View {
  const { used = true, capacity = '1Gi', synced = true } = options
  const host = { ...copy, status: { ...(copy.status as JsonObject), capacity: { storage: capacity } } }
  return {
    tenant: TENANT,
    key,
    virtual: volume === undefined ? { seq: 0 } : { seq: 5, object: volume },
    host: { seq: 0 },
    related: memoryRelated({
      synced,
      users: [{ of: key, by: [claimRef] }],
      virtual: used ? [{ ref: claimRef, object: claim }] : [],
      host: [{ ref: hostRefOf(claimRef, TENANT), object: host }],
    }),
    waitedMs: 0,
  }
}

function created(): KubeObject {
  const [decision] = decideStandIn(viewOf())
  if (decision?.kind !== 'write' || decision.write.op !== 'create') throw new Error('not created')
  const { body } = decision.write
  return { ...body, metadata: { ...body.metadata, uid: 'volume-uid' } }
}

describe('a volume that stands for one of the host', () => {
  test('is bound to the tenant’s claim and says nothing of where the data is', () => {
    expect(created()).toMatchObject({
      metadata: { name: 'pvc-1', labels: { 'causeway.dev/mirror': 'true' } },
      spec: {
        capacity: { storage: '1Gi' },
        storageClassName: 'fast',
        claimRef: { namespace: 'default', name: 'data', uid: 'claim-uid' },
        flexVolume: { driver: 'causeway.dev/host-volume' },
      },
    })
    expect(decideStandIn(viewOf(created()))).toEqual([])
  })

  test('is bound once the API has made it, and grows with its claim', () => {
    const pending = { ...created(), status: { phase: 'Pending' } }
    expect(decideStandIn(viewOf(pending))).toMatchObject([
      { write: { subresource: 'status', body: { status: { phase: 'Bound' } } } },
    ])
    expect(decideStandIn(viewOf(created(), { capacity: '2Gi' }))).toMatchObject([
      { write: { op: 'patch', body: { spec: { capacity: { storage: '2Gi' } } } } },
    ])
  })

  test('goes with its claim, once all claims are known, and nothing keeps it', () => {
    expect(decideStandIn(viewOf(created(), { used: false, synced: false }))).toEqual([])
    expect(decideStandIn(viewOf(created(), { used: false }))).toMatchObject([
      { rule: 'mirrorUnused', write: { op: 'delete', uid: 'volume-uid' } },
    ])
    const metadata = { ...created().metadata, deletionTimestamp: 't', finalizers: ['kubernetes.io/pv-protection'] }
    expect(decideStandIn(viewOf({ ...created(), metadata }, { used: false }))).toMatchObject([
      { write: { op: 'patch', body: { metadata: { finalizers: [] } } } },
    ])
  })

  test('is none while a claim asks for the host’s volume only, or is bound to another in the tenant', () => {
    const related = (virtual: KubeObject, host: KubeObject) =>
      memoryRelated({
        synced: true,
        users: [{ of: key, by: [claimRef] }],
        virtual: [{ ref: claimRef, object: virtual }],
        host: [{ ref: hostRefOf(claimRef, TENANT), object: host }],
      })
    const pending = { ...copy, status: { phase: 'Pending' } }
    const elsewhere = { ...claim, spec: { storageClassName: 'fast', volumeName: 'own' } }
    expect(decideStandIn({ ...viewOf(), related: related(claim, pending) })).toEqual([])
    expect(decideStandIn({ ...viewOf(), related: related(elsewhere, copy) })).toEqual([])
    expect(decideStandIn({ ...viewOf(created()), related: related(elsewhere, copy) })).toMatchObject([
      { rule: 'mirrorUnused', write: { op: 'delete' } },
    ])
  })

  test('never touches a volume that the tenant made itself', () => {
    const own = { metadata: { name: 'pvc-1', uid: 'own' } }
    expect(decideStandIn(viewOf(own))).toEqual([])
    expect(decideStandIn(viewOf(own, { used: false }))).toEqual([])
  })
})
