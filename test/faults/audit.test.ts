import { expect, test } from 'vitest'
import type { ApiObject, ApiRequest } from './api-request.ts'
import { targetOf } from './api-request.ts'
import { audit } from './audit.ts'
import { Deeds } from './deeds.ts'

/* The audit must be able to fail: each of these logs has one wrong write, and it has to be told. */

const HOST = '/api/v1/namespaces/causeway-t'

function request(method: string, path: string, rest: Partial<ApiRequest> = {}): ApiRequest {
  return {
    cluster: 'host',
    order: 0,
    at: 100,
    doneAt: 101,
    method,
    path,
    target: targetOf(path),
    digest: 'd',
    body: undefined,
    status: 200,
    told: 200,
    object: undefined,
    fault: undefined,
    ...rest,
  }
}

const object = (kind: string, name: string, rest: Record<string, unknown>, version = '1'): ApiObject => ({
  kind,
  metadata: { namespace: 'causeway-t', name, uid: `h-${name}`, resourceVersion: version },
  ...rest,
})

const uid = (of: string): { body: Record<string, unknown> } => ({ body: { preconditions: { uid: of } } })

/** A copy is made of the tenant's object with this uid. */
function created(kind: string, plural: string, of: string): ApiRequest {
  const made = object(kind, 'web', {})
  made.metadata.annotations = { 'causeway.dev/uid': of }
  return request('POST', `${HOST}/${plural}`, { object: made })
}

function found(requests: ApiRequest[], deeds = new Deeds()): string {
  return audit({
    requests,
    deeds,
    tenants: ['t', 'u'],
    foreign: new Set(['configmaps causeway-t/foreign']),
    maxRepeats: 2,
  }).join('\n')
}

function deedsOf(kind: 'pods' | 'configmaps', deletionAt?: number): Deeds {
  const deeds = new Deeds()
  const volumes = [{ configMap: { name: 'cfg' } }]
  deeds.created(
    't',
    { kind, namespace: 'shop', name: 'cfg' },
    { metadata: { namespace: 'shop', uid: 'v' }, spec: { volumes } },
    1,
  )
  if (deletionAt !== undefined) deeds.deleting('v', deletionAt)
  return deeds
}

test('a write whose answer was lost may be made again', () => {
  const lost = Array.from({ length: 5 }, () => request('PATCH', `${HOST}/pods/web`, { told: 0, fault: 'reset' }))
  expect(found([...lost, request('PATCH', `${HOST}/pods/web`)])).toBe('')
})

test('data that is written into a tenant’s object', () => {
  const path = '/api/v1/namespaces/shop/configmaps/cfg'
  const write = (body: Record<string, unknown>) => found([request('PATCH', path, { cluster: 't', body })])
  expect(write({ data: { counter: '1' } })).toContain("a tenant's data overwritten: #0 t PATCH")
  expect(write({ metadata: { annotations: { a: 'b' } } })).toBe('')
})

test('what Causeway may write is not told', () => {
  const requests = [
    created('Pod', 'pods', 'v'),
    request('PATCH', `${HOST}/configmaps/cfg`, { object: object('ConfigMap', 'cfg', { data: { counter: '1' } }, '2') }),
    request('PATCH', `${HOST}/configmaps/cfg`, {
      digest: 'e',
      object: object('ConfigMap', 'cfg', { data: { counter: '2' } }, '3'),
    }),
    request('DELETE', `${HOST}/pods/web`, uid('h-web')),
    request('POST', '/api/v1/namespaces'),
    request('POST', `${HOST}/configmaps`, { status: 409 }),
  ]
  expect(found(requests, deedsOf('pods', 50))).toBe('')
})

test.each<[string, ApiRequest[], Deeds | undefined, string]>([
  ['a write outside the namespaces', [request('POST', '/api/v1/namespaces/kube-system/pods')], undefined, 'outside'],
  ['a cluster-wide write', [request('DELETE', '/api/v1/nodes/n1', uid('n'))], undefined, 'outside'],
  [
    'one tenant’s object in another’s namespace',
    [request('POST', `${HOST}/pods`, { body: { metadata: { labels: { 'causeway.dev/tenant': 'u' } } } })],
    undefined,
    "another tenant's label",
  ],
  ['a stranger’s object', [request('PATCH', `${HOST}/configmaps/foreign`)], undefined, "somebody else's"],
  ['a delete without the uid', [request('DELETE', `${HOST}/pods/web`, { status: 404 })], undefined, 'without the uid'],
  [
    'the copy of a pod that the tenant still has deleted',
    [created('Pod', 'pods', 'v'), request('DELETE', `${HOST}/pods/web`, uid('h-web'))],
    deedsOf('pods'),
    'deleted what t still has',
  ],
  [
    'the same, before the tenant deleted it',
    [created('Pod', 'pods', 'v'), request('DELETE', `${HOST}/pods/web`, uid('h-web'))],
    deedsOf('pods', 500),
    'deleted what t still has',
  ],
  [
    'a tenant’s pod deleted that it wants',
    [request('DELETE', '/api/v1/namespaces/shop/pods/web', { cluster: 't', ...uid('v') })],
    deedsOf('pods'),
    'deleted what t still has',
  ],
  [
    'a value going back',
    [
      request('PATCH', `${HOST}/configmaps/cfg`, {
        object: object('ConfigMap', 'cfg', { data: { counter: '9' } }, '9'),
      }),
      request('PATCH', `${HOST}/configmaps/cfg`, {
        object: object('ConfigMap', 'cfg', { data: { counter: '8' } }, '10'),
      }),
    ],
    undefined,
    'went back from 9 to 8',
  ],
  [
    'a pod that is shown an earlier phase',
    ['Running', 'Pending'].map((phase, index) =>
      request('PATCH', '/api/v1/namespaces/shop/pods/web/status', {
        cluster: 't',
        digest: phase,
        object: object('Pod', 'web', { status: { phase } }, String(index)),
      }),
    ),
    undefined,
    'went back from 1 to 0',
  ],
  [
    'the same write again and again',
    Array.from({ length: 3 }, () => request('PATCH', `${HOST}/pods/web`)),
    undefined,
    '3 times the same',
  ],
])('%s is told', (_, requests, deeds, problem) => {
  expect(found(requests, deeds)).toContain(problem)
})

test('a ConfigMap’s copy may go only when no pod uses it whose copy is there', () => {
  const requests = [created('ConfigMap', 'configmaps', 'c'), request('DELETE', `${HOST}/configmaps/web`, uid('h-web'))]
  const deeds = deedsOf('pods')
  deeds.created('t', { kind: 'configmaps', namespace: 'shop', name: 'cfg' }, { metadata: { uid: 'c' } }, 1)
  expect(found(requests, deeds)).toBe('')
  const podFirst = created('Pod', 'pods', 'v')
  if (podFirst.object !== undefined) podFirst.object.metadata.uid = 'h-pod'
  expect(found([podFirst, ...requests], deeds)).toContain('deleted what t still has')
  deeds.deleting('v', 50)
  expect(found([podFirst, ...requests], deeds)).toBe('')
})
