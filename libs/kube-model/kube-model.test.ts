import { expect, test } from 'vitest'
import { RESOURCES, apiVersionOf, displayName, keyString, knownResource, resourcePath, resourceToken } from './index.ts'

const deployments = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true }

test.each([
  [RESOURCES.pods, 'pods', 'v1'],
  [deployments, 'deployments.apps', 'apps/v1'],
])('names a resource by its token and its apiVersion', (resource, token, apiVersion) => {
  expect(resourceToken(resource)).toBe(token)
  expect(apiVersionOf(resource)).toBe(apiVersion)
})

test.each([
  ['a collection of all namespaces', RESOURCES.pods, {}, '/api/v1/pods'],
  ['a collection', deployments, { namespace: 'a' }, '/apis/apps/v1/namespaces/a/deployments'],
  ['an object', RESOURCES.pods, { namespace: 'a', name: 'b' }, '/api/v1/namespaces/a/pods/b'],
  [
    'a subresource',
    RESOURCES.pods,
    { namespace: 'a', name: 'b', subresource: 'status' },
    '/api/v1/namespaces/a/pods/b/status',
  ],
  ['an object without namespace', RESOURCES.nodes, { namespace: 'ignored', name: 'n' }, '/api/v1/nodes/n'],
  [
    'a name with characters of a path',
    RESOURCES.pods,
    { namespace: 'a/../b', name: '?x' },
    '/api/v1/namespaces/a%2F..%2Fb/pods/%3Fx',
  ],
])('the path of %s', (_title, resource, target, path) => {
  expect(resourcePath(resource, target)).toBe(path)
})

test('knows its kinds by token and nothing that objects inherit', () => {
  expect(knownResource('pods')).toBe(RESOURCES.pods)
  expect(knownResource('constructor')).toBeUndefined()
})

test('keys are equal exactly for the same object', () => {
  const key = { tenant: 't', side: 'host', resource: 'pods', namespace: 'a', name: 'b' } as const
  expect(keyString(key)).toBe('t/host/pods/a/b')
  expect(keyString({ ...key, namespace: '' })).not.toBe(keyString({ ...key, name: '' }))
  expect(displayName(key)).toBe('a/b')
  expect(displayName({ namespace: '', name: 'n' })).toBe('n')
})
