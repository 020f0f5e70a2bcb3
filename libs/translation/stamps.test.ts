import { describe, expect, test } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { isCopyOf, isOurs, stampedUid, stampsFor, virtualRefOf } from './stamps.ts'
import { TENANT, podOf } from './testing/index.ts'

const ref = { resource: 'pods', namespace: 'default', name: 'web' }

function copy(changes: { metadata?: object; labels?: object; annotations?: object } = {}): KubeObject {
  const stamps = stampsFor(ref, podOf('web', { metadata: { uid: 'u1' } }), TENANT)
  return {
    metadata: {
      name: 'web-x-default-x-team-a',
      namespace: 'tenant-team-a',
      ...changes.metadata,
      labels: { ...stamps.labels, ...changes.labels },
      annotations: { ...stamps.annotations, ...changes.annotations },
    },
  }
}

describe('stamps', () => {
  test('lead from a copy back to its original', () => {
    expect(virtualRefOf(copy())).toEqual({ tenant: 'team-a', ref })
    expect(stampedUid(copy())).toBe('u1')
    expect(isOurs(copy(), TENANT, 'pods')).toBe(true)
    expect(isCopyOf(copy(), TENANT, ref)).toBe(true)
  })

  test('give a cluster-scoped object no namespace', () => {
    const stamps = stampsFor(
      { resource: 'storageclasses.storage.k8s.io', namespace: '', name: 'gold' },
      { metadata: {} },
      TENANT,
    )
    expect(stamps.labels).toEqual({ 'causeway.dev/tenant': 'team-a' })
    expect(stamps.annotations).toMatchObject({ 'causeway.dev/host-name': '/causeway-gold-x-team-a' })
  })

  test.each([
    ['was copied under another name', copy({ metadata: { name: 'web-copy' } })],
    ['was copied to another namespace', copy({ metadata: { namespace: 'elsewhere' } })],
    ["carries another tenant's label", copy({ labels: { 'causeway.dev/tenant': 'team-b' } })],
    ['has lost its label', { metadata: { ...copy().metadata, labels: {} } }],
    ['has lost its annotations', { metadata: { ...copy().metadata, annotations: {} } }],
    ['is of another kind', copy({ annotations: { 'causeway.dev/resource': 'configmaps' } })],
  ])('are not believed on an object that %s', (_title, host) => {
    expect(isOurs(host, TENANT, 'pods')).toBe(false)
    expect(isCopyOf(host, TENANT, ref)).toBe(false)
  })

  test('are not believed where the name that they tell has another host name', () => {
    const host = copy({ annotations: { 'causeway.dev/name': 'db' } })
    expect(virtualRefOf(host)).toBeUndefined()
    expect(isCopyOf(host, TENANT, ref)).toBe(false)
  })
})
