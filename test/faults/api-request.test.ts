import { expect, test } from 'vitest'
import { targetOf } from './api-request.ts'

test.each([
  ['/api/v1/namespaces/a/pods', { resource: 'pods', namespace: 'a', name: '', subresource: '' }],
  ['/api/v1/namespaces/a/pods/web/status', { resource: 'pods', namespace: 'a', name: 'web', subresource: 'status' }],
  ['/api/v1/namespaces/a', { resource: 'namespaces', namespace: '', name: 'a', subresource: '' }],
  ['/api/v1/namespaces/a/finalize', { resource: 'namespaces', namespace: '', name: 'a', subresource: 'finalize' }],
  ['/api/v1/nodes/n1', { resource: 'nodes', namespace: '', name: 'n1', subresource: '' }],
  [
    '/apis/coordination.k8s.io/v1/namespaces/x/leases/l',
    { resource: 'leases.coordination.k8s.io', namespace: 'x', name: 'l', subresource: '' },
  ],
  ['/version', undefined],
  ['/apis/apps/v1', undefined],
])('%s', (path, target) => {
  expect(targetOf(path)).toEqual(target)
})
