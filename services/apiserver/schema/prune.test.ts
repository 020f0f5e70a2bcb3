import { describe, expect, it } from 'vitest'

import type { JsonObject } from '#libs/kube-model'

import { pruneUnknown } from './prune.ts'

function pruned(kind: string, object: JsonObject, group = ''): JsonObject {
  pruneUnknown({ group, version: 'v1', kind }, object)
  return object
}

describe('pruneUnknown', () => {
  it.each<[string, string, JsonObject, JsonObject]>([
    ['unknown fields', 'ConfigMap', { data: { a: '1' }, bogus: 1 }, { data: { a: '1' } }],
    ['nulls and empty maps', 'ConfigMap', { data: {}, metadata: { labels: null } }, { metadata: {} }],
    ['empty strings and lists', 'Pod', { spec: { nodeName: '', tolerations: [] } }, { spec: {} }],
    ['false where it says nothing', 'Pod', { spec: { hostNetwork: false } }, { spec: {} }],
    [
      'unknown fields in lists',
      'Pod',
      { spec: { containers: [{ name: 'c', x: 1 }] } },
      { spec: { containers: [{ name: 'c' }] } },
    ],
  ])('drops %s', (_, kind, object, expected) => {
    expect(pruned(kind, object)).toEqual(expected)
  })

  it.each<[string, string, JsonObject]>([
    ['false that overrides a default', 'Pod', { spec: { enableServiceLinks: false } }],
    ['an empty storage class', 'PersistentVolumeClaim', { spec: { storageClassName: '' } }],
    ['empty structures', 'Pod', { spec: { volumes: [{ name: 'v', emptyDir: {} }] } }],
    ['zero priority', 'Pod', { spec: { priority: 0 } }],
  ])('keeps %s', (_, kind, object) => {
    expect(pruned(kind, structuredClone(object))).toEqual(object)
  })

  it('writes quantities and times in their canonical form', () => {
    const pod = { spec: { containers: [{ name: 'c', resources: { limits: { cpu: 0.5, memory: '1024Mi' } } }] } }
    expect(pruned('Pod', pod)).toMatchObject({
      spec: { containers: [{ resources: { limits: { cpu: '500m', memory: '1Gi' } } }] },
    })
    const lease = { spec: { renewTime: '2020-01-01T01:00:00.5+01:00' } }
    expect(pruned('Lease', lease, 'coordination.k8s.io')).toEqual({
      spec: { renewTime: '2020-01-01T00:00:00.500000Z' },
    })
  })

  it('leaves kinds alone that are not built in', () => {
    expect(pruned('Widget', { spec: { a: null } }, 'kc.example')).toEqual({ spec: { a: null } })
  })
})
