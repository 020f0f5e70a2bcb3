import { describe, expect, it } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { createTestCluster, podNamed } from './testing.ts'

const withData = (object: KubeObject, data: object): KubeObject => ({ ...object, data })

describe('updates', () => {
  it('refuses a version that is not the stored one, and takes any when none is given', () => {
    const { api } = createTestCluster()
    const first = api.create('configmaps', 'default', { metadata: { name: 'a' }, data: { a: '1' } })
    api.update('configmaps', withData(first, { a: '2' }))
    expect(() => api.update('configmaps', withData(first, { a: '3' }))).toThrow('has been modified')
    const { resourceVersion: _, ...metadata } = first.metadata
    const updated = api.update('configmaps', { ...withData(first, { a: '3' }), metadata })
    expect(updated['data']).toEqual({ a: '3' })
  })

  it('does not store what changes nothing', () => {
    const { api, store } = createTestCluster()
    const first = api.create('configmaps', 'default', { metadata: { name: 'a' }, data: { a: '1' } })
    const { revision } = store
    expect(api.update('configmaps', first).metadata.resourceVersion).toBe(first.metadata.resourceVersion)
    expect(store.revision).toBe(revision)
  })

  it('keeps spec and status apart', () => {
    const { api } = createTestCluster()
    const pod = api.create('pods', 'default', podNamed('p'))
    const status = { phase: 'Running', podIP: '10.0.0.1' }
    const reported = api.update('pods', { ...pod, status, spec: {} }, { subresource: 'status' })
    expect((reported['status'] as { phase: string }).phase).toBe('Running')
    expect(reported['spec']).toEqual(pod['spec'])
    const labelled = { ...reported, status: {}, metadata: { ...reported.metadata, labels: { a: 'b' } } }
    expect((api.update('pods', labelled)['status'] as { phase: string }).phase).toBe('Running')
  })

  it('tells subscribers later and in order', async () => {
    const { api } = createTestCluster()
    const seen: string[] = []
    const stop = api.subscribe('configmaps', ({ type }) => seen.push(type))
    const made = api.create('configmaps', 'default', { metadata: { name: 'a' } })
    api.update('configmaps', withData(made, { a: '1' }))
    api.delete('configmaps', 'default', 'a')
    expect(seen).toEqual([])
    await new Promise((resolve) => setImmediate(resolve))
    expect(seen).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
    stop()
  })
})
