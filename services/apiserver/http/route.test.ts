import { describe, expect, it } from 'vitest'
import { parseRoute } from './route.ts'

const resource = (fields: object): object => ({
  kind: 'resource',
  group: '',
  version: 'v1',
  namespace: undefined,
  name: undefined,
  subresource: undefined,
  watch: false,
  ...fields,
})

describe('parseRoute', () => {
  it.each([
    ['/', { kind: 'root' }],
    ['/api/', { kind: 'core' }],
    ['/apis', { kind: 'groups' }],
    ['/apis/apps', { kind: 'group', group: 'apps' }],
    ['/api/v1', { kind: 'version', group: '', version: 'v1' }],
    ['/apis/apps/v1', { kind: 'version', group: 'apps', version: 'v1' }],
    ['/healthz', { kind: 'other', path: '/healthz' }],
    ['/api/v1/nodes/n/status', resource({ plural: 'nodes', name: 'n', subresource: 'status' })],
    ['/api/v1/pods', resource({ plural: 'pods' })],
    ['/api/v1/namespaces', resource({ plural: 'namespaces' })],
    ['/api/v1/namespaces/a', resource({ plural: 'namespaces', name: 'a' })],
    ['/api/v1/namespaces/a/finalize', resource({ plural: 'namespaces', name: 'a', subresource: 'finalize' })],
    ['/api/v1/namespaces/a/pods', resource({ plural: 'pods', namespace: 'a' })],
    [
      '/api/v1/namespaces/a/pods/b%2Ec/log',
      resource({ plural: 'pods', namespace: 'a', name: 'b.c', subresource: 'log' }),
    ],
    ['/api/v1/watch/namespaces/a/pods/p', resource({ plural: 'pods', namespace: 'a', name: 'p', watch: true })],
    [
      '/apis/apps/v1/namespaces/a/deployments/d/scale/',
      resource({ group: 'apps', plural: 'deployments', namespace: 'a', name: 'd', subresource: 'scale' }),
    ],
  ])('takes %s apart', (path, route) => {
    expect(parseRoute(path)).toEqual(route)
  })
})
