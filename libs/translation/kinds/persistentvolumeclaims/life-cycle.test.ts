import { describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { decideFor } from '../../registry.ts'
import { TENANT, memoryRelated, objectOf } from '../../testing/index.ts'
import type { View } from '../../view.ts'
import { claimToHost } from './translate.ts'

const key = { resource: 'persistentvolumeclaims', namespace: 'default', name: 'data' }
const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const protection = ['kubernetes.io/pvc-protection']
const volume = {
  ref: { resource: 'persistentvolumes', namespace: '', name: 'pvc-1' },
  object: {
    metadata: { name: 'pvc-1', labels: { 'causeway.dev/mirror': 'true' } },
    spec: { claimRef: { uid: 'claim-uid' } },
  },
}

function claim(metadata: JsonObject = {}, more: JsonObject = {}): KubeObject {
  return objectOf('PersistentVolumeClaim', 'data', {
    metadata: { uid: 'claim-uid', ...metadata },
    spec: { ...spec, ...more },
  })
}

function copyOf(virtual: KubeObject, metadata: JsonObject = {}): KubeObject {
  const made = claimToHost({ virtual, tenant: TENANT, related: memoryRelated() })
  if (made.kind !== 'object') throw new Error(made.message)
  return { ...made.object, metadata: { ...made.object.metadata, uid: 'copy-uid', ...metadata } }
}

function decisions(view: Partial<View>) {
  return decideFor({
    tenant: TENANT,
    key,
    virtual: { seq: 0 },
    host: { seq: 0 },
    related: memoryRelated(),
    waitedMs: 0,
    ...view,
  })
}

describe('a claim', () => {
  test('of another uid than its copy lets the former data go first', () => {
    const host = copyOf(claim({ uid: 'former' }))
    expect(decisions({ virtual: { seq: 7, object: claim() }, host: { seq: 9, object: host } })).toMatchObject([
      { rule: 'virtualReplaced', target: { side: 'host' }, write: { op: 'delete', uid: 'copy-uid' } },
    ])
  })

  test('that the tenant deletes takes its copy with it', () => {
    const virtual = claim({ deletionTimestamp: 't', deletionGracePeriodSeconds: 0, finalizers: protection })
    expect(
      decisions({ virtual: { seq: 7, object: virtual }, host: { seq: 9, object: copyOf(claim()) } }),
    ).toMatchObject([
      { rule: 'virtualTerminating', target: { side: 'host' }, write: { uid: 'copy-uid', proof: { seq: 7 } } },
    ])
  })

  test('whose copy is being deleted on the host is deleted, by its uid', () => {
    const going = copyOf(claim(), { deletionTimestamp: 't', deletionGracePeriodSeconds: 0 })
    expect(decisions({ virtual: { seq: 7, object: claim() }, host: { seq: 9, object: going } })).toMatchObject([
      { rule: 'hostTerminating', target: { side: 'virtual' }, write: { uid: 'claim-uid', proof: { seq: 9 } } },
    ])
  })

  test('whose copy is gone is not filled with other data', () => {
    const host = { seq: 9, gone: { uid: 'copy-uid', seq: 9, virtualUid: 'claim-uid' } }
    expect(decisions({ virtual: { seq: 7, object: claim() }, host })).toMatchObject([
      { rule: 'hostGone', target: { side: 'virtual' }, write: { op: 'delete', proof: { kind: 'tombstone', seq: 9 } } },
    ])
  })

  test('that is bound and whose copy nobody remembers is deleted only once the host confirms it', () => {
    const virtual = { seq: 7, object: claim({}, { volumeName: 'pvc-1' }) }
    const related = memoryRelated({ virtual: [volume] })
    expect(decisions({ virtual, related })).toMatchObject([
      { rule: 'hostGone', write: { op: 'delete', proof: { kind: 'confirm-absent' } } },
    ])
    expect(decisions({ virtual, related: memoryRelated({ virtual: [volume], synced: false }) })).toEqual([])
  })

  test('that is bound to a volume of the tenant’s own is left alone and said to be unsupported', () => {
    const virtual = { seq: 7, object: claim({}, { volumeName: 'own' }) }
    expect(decisions({ virtual })).toMatchObject([{ kind: 'reject', reason: 'Unsupported' }])
  })

  test('is let go of once its copy is gone and no pod of the tenant uses it', () => {
    const object = claim({
      deletionTimestamp: 't',
      deletionGracePeriodSeconds: 0,
      finalizers: [...protection, 'own/one'],
    })
    const virtual = { seq: 7, object }
    expect(decisions({ virtual })).toMatchObject([
      { target: { side: 'virtual' }, write: { op: 'patch', body: { metadata: { finalizers: ['own/one'] } } } },
    ])
    const pod = { resource: 'pods', namespace: 'default', name: 'db' }
    const used = memoryRelated({
      users: [{ of: key, by: [pod] }],
      virtual: [{ ref: pod, object: objectOf('Pod', 'db') }],
    })
    expect(decisions({ virtual, related: used })).toEqual([])
  })
})
