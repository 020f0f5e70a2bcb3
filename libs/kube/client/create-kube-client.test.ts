import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RESOURCES } from '#libs/kube-model'
import type { ClusterConfig, RefreshReason } from '../auth/cluster-config.ts'
import { isConflict, isExpired, isNotFound, isTooManyRequests, isTransient, isUnauthorized } from '../errors.ts'
import { startFakeApiServer } from '../testing/fake-api-server.ts'
import type { FakeApiServer } from '../testing/fake-api-server.ts'
import { jsonReply, listReply, resetReply, silentReply, statusReply, streamReply } from '../testing/replies.ts'
import { createKubeClient } from './create-kube-client.ts'
import type { KubeClient } from './kube-client.ts'

const { pods, namespaces } = RESOURCES
const web = { namespace: 'shop', name: 'web' }

let server: FakeApiServer
let client: KubeClient

beforeEach(async () => {
  server = await startFakeApiServer('/clusters/team-a')
  client = createKubeClient(server.config, { maxBodyBytes: 5_000, timeoutMs: 5_000 })
})
afterEach(async () => {
  await client.close()
  await server.close()
})

const lastRequest = () => server.requests.at(-1)

describe('requests', () => {
  test('go below the base path of the cluster, with its credentials', async () => {
    server.script('other', jsonReply({ kind: 'Pod', metadata: { name: 'web', odd: true } }))
    expect(await client.get(pods, web)).toEqual({ kind: 'Pod', metadata: { name: 'web', odd: true } })
    expect(lastRequest()).toMatchObject({
      method: 'GET',
      path: '/api/v1/namespaces/shop/pods/web',
      headers: { authorization: 'Bearer secret-token' },
    })
  })

  test('create with our field manager, and send serialised bodies as they are', async () => {
    server.script('other', jsonReply({ metadata: {} }))
    await client.create(pods, web, Buffer.from('{"kind": "Pod"}'))
    expect(lastRequest()).toMatchObject({
      method: 'POST',
      path: '/api/v1/namespaces/shop/pods',
      query: { fieldManager: 'causeway' },
      body: '{"kind": "Pod"}',
      headers: { 'content-type': 'application/json' },
    })
  })

  test.each([
    ['merge', 'application/merge-patch+json'],
    ['strategic', 'application/strategic-merge-patch+json'],
    ['json', 'application/json-patch+json'],
  ] as const)('patch a subresource by a %s patch', async (type, contentType) => {
    server.script('other', jsonReply({ metadata: {} }))
    await client.patch(pods, web, { status: {} }, { type, subresource: 'status' })
    expect(lastRequest()).toMatchObject({
      method: 'PATCH',
      path: '/api/v1/namespaces/shop/pods/web/status',
      headers: { 'content-type': contentType },
      body: '{"status":{}}',
    })
  })

  test('delete with the uid as precondition', async () => {
    server.script('other', jsonReply({ kind: 'Status', status: 'Success' }))
    await client.delete(pods, web, { uid: 'u-1', gracePeriodSeconds: 0 })
    expect(lastRequest()?.method).toBe('DELETE')
    expect(JSON.parse(lastRequest()?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: 'u-1' },
      gracePeriodSeconds: 0,
    })
  })

  test('bind a pod with the uid as precondition', async () => {
    server.script('other', jsonReply({ kind: 'Status', status: 'Success' }))
    await client.bind({ ...web, uid: 'u-1' }, 'node-1')
    expect(lastRequest()).toMatchObject({ method: 'POST', path: '/api/v1/namespaces/shop/pods/web/binding' })
    expect(JSON.parse(lastRequest()?.body ?? '')).toMatchObject({
      metadata: { ...web, uid: 'u-1' },
      target: { kind: 'Node', name: 'node-1' },
    })
  })

  test('list page after page, and give items the kind that lists leave out', async () => {
    server.script('list', listReply([{ metadata: { name: 'a' } }], { resourceVersion: '9', continueToken: 'c&1' }))
    server.script('list', listReply([{ metadata: { name: 'b' } }], { resourceVersion: '9' }))
    const items = []
    for await (const page of client.listPages(pods, { limit: 1, fieldSelector: 'spec.nodeName=n' }))
      items.push(...page.items)
    expect(items).toEqual([
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'b' } },
    ])
    expect(lastRequest()).toMatchObject({
      path: '/api/v1/pods',
      query: { limit: '1', continue: 'c&1', fieldSelector: 'spec.nodeName=n' },
    })
  })

  test('identify the cluster by the uid of kube-system', async () => {
    server.script('other', jsonReply({ metadata: { uid: 'cluster-uid' } }))
    expect(await client.clusterIdentity()).toBe('cluster-uid')
    expect(lastRequest()?.path).toBe('/api/v1/namespaces/kube-system')
  })

  test('share a connection', async () => {
    server.script('other', ...Array.from({ length: 20 }, () => jsonReply({ metadata: {} })))
    for (let turn = 0; turn < 20; turn++) await client.get(pods, web)
    expect(server.connections()).toBeLessThanOrEqual(2)
  })
})

describe('failures', () => {
  const failure = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => 'no failure',
      (error: unknown) => error,
    )

  test('carry what the Status says', async () => {
    server.script('other', statusReply(409, { reason: 'Conflict', message: 'uid differs', details: { name: 'web' } }))
    const error = await failure(client.get(pods, web))
    expect(error).toMatchObject({
      statusCode: 409,
      reason: 'Conflict',
      details: { name: 'web' },
      message: 'GET /api/v1/namespaces/shop/pods/web: 409 uid differs',
      retry: 'never',
    })
    expect([isConflict, isNotFound, isTransient].map((is) => is(error))).toEqual([true, false, false])
  })

  test('are told apart when the body is no Status', async () => {
    const error = await failure(client.get(pods, web))
    expect(isNotFound(error)).toBe(true)
    expect(error).toMatchObject({ reason: '', message: expect.stringContaining('404 page not found') })
  })

  test('are transient and say how long to wait when the server throttles', async () => {
    server.script('other', statusReply(429, { retryAfterSeconds: 3 }))
    const error = await failure(client.get(pods, web))
    expect(error).toMatchObject({ retryAfterMs: 3_000 })
    expect([isTooManyRequests, isTransient].map((is) => is(error))).toEqual([true, true])
  })

  test('of an old continue token are expired', async () => {
    server.script('list', statusReply(410, { reason: 'Expired' }))
    expect(isExpired(await failure(client.listPage(pods)))).toBe(true)
  })

  test('name the server and the cause when it refuses the connection', async () => {
    const address = new URL(server.url).host
    await server.close()
    const error = await failure(client.get(pods, web))
    expect(error).toMatchObject({ server: address, reason: 'ECONNREFUSED', message: expect.stringContaining(address) })
    expect(isTransient(error)).toBe(true)
  })

  test.each([
    ['the connection breaks', resetReply],
    ['the body breaks off', streamReply(['{"kind":'], 'reset')],
  ])('are transient when %s', async (_, reply) => {
    server.script('other', reply)
    expect(isTransient(await failure(client.get(pods, web)))).toBe(true)
  })

  test.each([
    ['no answer comes', silentReply],
    ['a body does not end', streamReply(['{"kind":'], 'hold')],
  ])('come in time when %s', async (_, reply) => {
    server.script('other', reply)
    const error = await failure(client.get(pods, web, { timeoutMs: 20 }))
    expect(error).toMatchObject({ reason: 'Timeout' })
    expect(isTransient(error)).toBe(true)
  })

  test('are the reason of the abort when the caller gives up', async () => {
    server.script('other', silentReply)
    const stop = new AbortController()
    const error = failure(client.get(pods, web, { signal: stop.signal }))
    await expect.poll(() => server.requests.length).toBe(1)
    stop.abort(new Error('not needed any more'))
    expect(await error).toEqual(new Error('not needed any more'))
  })

  test('say that an answer is too large, or no JSON', async () => {
    server.script('other', jsonReply({ large: 'x'.repeat(6_000) }), jsonReply('<html>'))
    expect(await failure(client.get(pods, web))).toMatchObject({ reason: 'TooLarge' })
    expect(await failure(client.get(pods, web))).toMatchObject({ reason: 'Corrupt' })
  })

  test('of a watch are thrown before its first byte', async () => {
    server.script('watch', statusReply(410, { reason: 'Expired' }))
    const { signal } = new AbortController()
    const watch = client.watch(pods, { resourceVersion: '1', timeoutSeconds: 300, signal })
    expect(isExpired(await failure(watch))).toBe(true)
  })
})

describe('credentials', () => {
  const rotating = (asked: (RefreshReason | undefined)[]): ClusterConfig => ({
    source: 'test',
    access: (reason) => {
      asked.push(reason)
      const token = asked.includes('rejected') ? 'new' : 'old'
      return Promise.resolve({ server: server.url, tls: {}, headers: { authorization: `Bearer ${token}` } })
    },
  })

  test('are refreshed once when the server rejects them', async () => {
    const asked: (RefreshReason | undefined)[] = []
    const refreshing = createKubeClient(rotating(asked))
    server.script('other', statusReply(401), jsonReply({ metadata: { name: 'web' } }))
    expect(await refreshing.get(pods, web)).toMatchObject({ metadata: { name: 'web' } })
    expect(lastRequest()?.headers.authorization).toBe('Bearer new')
    server.script('other', statusReply(401), statusReply(401))
    await expect(refreshing.get(namespaces, { name: 'a' })).rejects.toSatisfy(isUnauthorized)
    expect(asked).toEqual([undefined, 'rejected', undefined, 'rejected'])
    await refreshing.close()
  })

  test('are read again after the server could not be reached', async () => {
    const asked: (RefreshReason | undefined)[] = []
    const refreshing = createKubeClient(rotating(asked))
    server.script('other', resetReply, jsonReply({ metadata: {} }))
    await expect(refreshing.get(pods, web)).rejects.toSatisfy(isTransient)
    await refreshing.get(pods, web)
    expect(asked).toEqual([undefined, 'unreachable'])
    await refreshing.close()
  })
})
