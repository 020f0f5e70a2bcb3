import { describe, expect, it } from 'vitest'
import type { KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import { createTestCluster, podNamed } from './testing.ts'

const codeOf = (run: () => unknown): number | undefined => {
  try {
    run()
  } catch (error) {
    if (error instanceof ApiError) return error.code
    throw error
  }
  return undefined
}

describe('deletion', () => {
  it('removes a pod without a node at once', () => {
    const { api } = createTestCluster()
    api.create('pods', 'default', podNamed('p'))
    api.delete('pods', 'default', 'p')
    expect(api.get('pods', 'default', 'p')).toBeUndefined()
  })

  it('gives a pod on a node its grace period, which a second deletion can shorten but not lengthen', () => {
    const { api } = createTestCluster()
    api.create('pods', 'default', podNamed('p', { nodeName: 'n' }))
    const period = (): unknown => api.get('pods', 'default', 'p')?.metadata.deletionGracePeriodSeconds
    api.delete('pods', 'default', 'p')
    expect(period()).toBe(30)
    api.delete('pods', 'default', 'p', { gracePeriodSeconds: 60 })
    expect(period()).toBe(30)
    api.delete('pods', 'default', 'p', { gracePeriodSeconds: 10 })
    expect(period()).toBe(10)
    expect(api.get('pods', 'default', 'p')?.metadata.deletionTimestamp).toBe('2023-11-14T22:13:30Z')
    api.delete('pods', 'default', 'p', { gracePeriodSeconds: 0 })
    expect(period()).toBeUndefined()
  })

  it('waits for finalizers and goes with the last one', () => {
    const { api, store } = createTestCluster()
    api.create('configmaps', 'default', { metadata: { name: 'a', finalizers: ['x.y/one'] } })
    api.delete('configmaps', 'default', 'a')
    const held = api.get('configmaps', 'default', 'a') as KubeObject
    expect(held.metadata.deletionTimestamp).toBeDefined()
    const from = store.revision
    delete held.metadata.finalizers
    api.update('configmaps', held)
    expect(api.get('configmaps', 'default', 'a')).toBeUndefined()
    expect([...(store.since(from) ?? [])].map(({ type }) => type)).toEqual(['DELETED'])
  })

  it('refuses a deletion whose precondition fails', () => {
    const { api } = createTestCluster()
    const { metadata } = api.create('configmaps', 'default', { metadata: { name: 'a' } })
    expect(codeOf(() => api.delete('configmaps', 'default', 'a', { uid: 'other' }))).toBe(409)
    expect(codeOf(() => api.delete('configmaps', 'default', 'a', { resourceVersion: '1' }))).toBe(409)
    expect(codeOf(() => api.delete('configmaps', 'default', 'a', { uid: metadata.uid ?? '' }))).toBeUndefined()
    expect(codeOf(() => api.delete('configmaps', 'default', 'a'))).toBe(404)
  })

  it('marks what the garbage collector has to see to first', () => {
    const { api } = createTestCluster()
    api.create('configmaps', 'default', { metadata: { name: 'a' } })
    api.delete('configmaps', 'default', 'a', { propagationPolicy: 'Foreground' })
    expect(api.get('configmaps', 'default', 'a')?.metadata.finalizers).toEqual(['foregroundDeletion'])
  })

  it('marks a namespace, keeps it from new content and removes it when it is finalized', () => {
    const { api } = createTestCluster()
    api.create('namespaces', undefined, { metadata: { name: 'n' } })
    api.delete('namespaces', undefined, 'n')
    const namespace = api.get('namespaces', undefined, 'n') as KubeObject
    expect(namespace['status']).toEqual({ phase: 'Terminating' })
    expect(codeOf(() => api.create('configmaps', 'n', { metadata: { name: 'a' } }))).toBe(403)
    api.update('namespaces', { ...namespace, spec: { finalizers: [] } }, { subresource: 'finalize' })
    expect(api.get('namespaces', undefined, 'n')).toBeUndefined()
    expect(codeOf(() => api.delete('namespaces', undefined, 'kube-system'))).toBe(403)
  })
})
