import { describe, expect, test } from 'vitest'
import type { LoggedIntent, Write } from '#libs/events'
import { type Reply, jsonReply, resetReply, statusReply } from '#libs/kube/testing'
import type { KubeObject, ObjectKey } from '#libs/kube-model'
import { parseTenantConfig } from '#libs/sync-config'
import { createVault } from '#libs/vault'
import { execute } from './execute.ts'
import type { Attempt } from './result.ts'
import { HOST_NAMESPACE, TENANT, hostCopy, intentOf, writes } from './testing/intents.ts'
import { twoServers } from './testing/two-servers.ts'

const virtualTarget: ObjectKey = {
  tenant: TENANT,
  side: 'virtual',
  resource: 'pods',
  namespace: 'default',
  name: 'web',
}

const vault = createVault({ active: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) })

const servers = twoServers()

/** Executes with what the two servers will answer, in order. */
async function run(
  write: Write,
  script: { host?: Reply[]; tenant?: Reply[]; intent?: Partial<LoggedIntent>; identity?: string } = {},
): Promise<Attempt> {
  servers.hostServer.script('other', ...(script.host ?? []))
  servers.tenantServer.script('other', ...(script.tenant ?? []))
  const route = { client: servers.tenant, name: TENANT, hostNamespace: HOST_NAMESPACE }
  return await execute(intentOf(write, script.intent), {
    host: servers.host,
    route,
    vault,
    identity: async () => script.identity,
    signal: new AbortController().signal,
    timeoutMs: 5_000,
  })
}

const live = (object: KubeObject, more: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, uid: 'host-1', resourceVersion: '42', ...more },
})
const exists = statusReply(409, { reason: 'AlreadyExists', message: 'pods "web" already exists' })
const notFound = statusReply(404, {
  reason: 'NotFound',
  message: 'pods "web" not found',
  details: { name: 'web', kind: 'pods' },
})
const made = { result: 'done', uid: 'host-1', resourceVersion: '42' }

describe('create', () => {
  test('answers the uid and version of what it made', async () => {
    expect(await run(writes.create(), { host: [jsonReply(live(hostCopy()))] })).toEqual(made)
    expect(servers.hostServer.requests[0]).toMatchObject({
      method: 'POST',
      path: `/api/v1/namespaces/${HOST_NAMESPACE}/pods`,
    })
  })

  test.each<{ holder: string; object: KubeObject; expected: object; body?: Partial<KubeObject['metadata']> }>([
    { holder: 'the copy it was to make', object: live(hostCopy()), expected: made },
    {
      holder: 'the copy it was to make, with what the API server adds',
      object: { ...live(hostCopy()), spec: { priority: 0 }, status: {} },
      expected: made,
    },
    {
      holder: 'the copy as an earlier decision made it',
      object: live(hostCopy(), { labels: { ...hostCopy().metadata.labels, version: '1' } }),
      body: { labels: { ...hostCopy().metadata.labels, version: '2' } },
      expected: { result: 'conflict' },
    },
    {
      holder: 'the copy that the same decision made, and somebody has changed since',
      object: live(hostCopy(), {
        annotations: { ...hostCopy().metadata.annotations, 'causeway.dev/trace': 'a', x: '1' },
      }),
      body: { annotations: { ...hostCopy().metadata.annotations, 'causeway.dev/trace': 'a', x: '2' } },
      expected: made,
    },
    {
      holder: 'the copy it was to make, on its way out',
      object: live(hostCopy(), { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      expected: { result: 'conflict' },
    },
    {
      holder: 'the copy of an earlier object of the same name',
      object: live(hostCopy({ uid: 'virtual-0' })),
      expected: { result: 'conflict' },
    },
    {
      holder: 'an object whose stamps name another, whose copy would have another name',
      object: live(hostCopy({ of: 'other' })),
      expected: { result: 'parked', reason: 'ForeignObject' },
    },
    {
      holder: 'an object that is not ours',
      object: live({ metadata: { name: 'web-x-default-x-team-a', namespace: HOST_NAMESPACE } }),
      expected: { result: 'parked', reason: 'ForeignObject' },
    },
    {
      holder: 'somebody’s copy of a copy of ours',
      object: live(hostCopy(), {
        annotations: { ...hostCopy().metadata.annotations, 'causeway.dev/host-name': 'x/y' },
      }),
      expected: { result: 'parked', reason: 'ForeignObject' },
    },
  ])('finds its name taken by $holder', async ({ object, expected, body }) => {
    const wanted = { ...hostCopy(), metadata: { ...hostCopy().metadata, ...body } }
    expect(await run(writes.create(wanted), { host: [exists, jsonReply(object)] })).toMatchObject(expected)
    expect(servers.hostServer.requests.map((request) => request.method)).toEqual(['POST', 'GET'])
  })

  describe('where each namespace of the tenant has one of its own', () => {
    const { config } = parseTenantConfig({ sync: { toHost: { namespaces: { enabled: true } } } })
    const routeOf = () => ({
      client: servers.tenant,
      name: TENANT,
      hostNamespace: HOST_NAMESPACE,
      ...(config && { config }),
    })
    const namespace = `causeway-default-x-${TENANT}`
    const place = (metadata: Partial<KubeObject['metadata']> = {}): KubeObject => ({
      metadata: {
        name: namespace,
        labels: { 'causeway.dev/tenant': TENANT },
        annotations: {
          'causeway.dev/name': 'default',
          'causeway.dev/resource': 'namespaces',
          'causeway.dev/host-name': `/${namespace}`,
        },
        ...metadata,
      },
    })
    const stamped = place().metadata.annotations

    test.each<{ is: string; reply: Reply; expected: object; calls: string[] }>([
      { is: 'ours', reply: jsonReply(place()), expected: made, calls: ['GET', 'POST'] },
      {
        is: 'not there',
        reply: statusReply(404, { reason: 'NotFound', message: 'gone', details: { name: namespace } }),
        expected: { result: 'parked', reason: 'NamespaceMissing' },
        calls: ['GET'],
      },
      {
        is: 'somebody else’s',
        reply: jsonReply(place({ labels: {}, annotations: {} })),
        expected: { result: 'parked', reason: 'ForeignObject' },
        calls: ['GET'],
      },
      {
        is: 'another tenant’s',
        reply: jsonReply(place({ labels: { 'causeway.dev/tenant': 'other' } })),
        expected: { result: 'parked', reason: 'ForeignObject' },
        calls: ['GET'],
      },
      {
        is: 'that of another of its namespaces',
        reply: jsonReply(place({ annotations: { ...stamped, 'causeway.dev/name': 'other' } })),
        expected: { result: 'parked', reason: 'ForeignObject' },
        calls: ['GET'],
      },
    ])('the host namespace is looked at: it is $is', async ({ reply, expected, calls }) => {
      const intent = intentOf({ op: 'create', body: hostCopy({ namespace }) })
      servers.hostServer.script('other', reply, jsonReply(live(hostCopy({ namespace }))))
      const attempt = await execute(
        { ...intent, target: { ...intent.target, namespace } },
        {
          host: servers.host,
          route: routeOf(),
          vault,
          identity: async () => undefined,
          signal: new AbortController().signal,
          timeoutMs: 5_000,
        },
      )
      expect(attempt).toMatchObject(expected)
      expect(servers.hostServer.requests.map(({ method }) => method)).toEqual(calls)
    })
  })

  test('tries again when the name became free meanwhile', async () => {
    expect(await run(writes.create(), { host: [exists, notFound] })).toMatchObject({ result: 'retry' })
  })

  test('a virtual node that is there already counts as made if it is ours', async () => {
    const node = { metadata: { name: 'n', labels: { 'causeway.dev/virtual-node': 'true' } } }
    const intent = { target: { ...virtualTarget, resource: 'nodes', namespace: '', name: 'n' } }
    expect(await run(writes.create(node), { intent, tenant: [exists, jsonReply(live(node))] })).toEqual(made)
    const real = { metadata: { name: 'n' } }
    expect(await run(writes.create(node), { intent, tenant: [exists, jsonReply(live(real))] })).toMatchObject({
      reason: 'ForeignObject',
    })
  })

  test('opens what was sealed for the log', async () => {
    const target = { ...intentOf(writes.create()).target, resource: 'secrets' }
    const sealed = vault.seal(target, { ...hostCopy({ resource: 'secrets' }), data: { password: 'czNjcjN0' } })
    expect(JSON.stringify(sealed)).not.toContain('czNjcjN0')
    await run(writes.create(sealed), { intent: { target }, host: [jsonReply(live(hostCopy()))] })
    expect(JSON.parse(servers.hostServer.requests[0]?.body ?? '')).toMatchObject({ data: { password: 'czNjcjN0' } })
  })

  test('parks what was tampered with', async () => {
    const target = { ...intentOf(writes.create()).target, resource: 'secrets' }
    const sealed = vault.seal({ ...target, name: 'another' }, { ...hostCopy(), data: { password: 'czNjcjN0' } })
    expect(await run(writes.create(sealed), { intent: { target } })).toMatchObject({ reason: 'PoisonMessage' })
    expect(servers.hostServer.requests).toEqual([])
  })

  test('tries again when the connection breaks', async () => {
    expect(await run(writes.create(), { host: [resetReply] })).toMatchObject({ result: 'retry', cause: 'failed' })
  })
})

describe('patch', () => {
  test('carries the uid as a precondition', async () => {
    expect(await run(writes.patch('u1'), { host: [jsonReply(live(hostCopy()))] })).toEqual(made)
    expect(JSON.parse(servers.hostServer.requests[0]?.body ?? '')).toEqual({ spec: {}, metadata: { uid: 'u1' } })
  })

  test('carries the version as well, where it is right for one state alone', async () => {
    const write = { ...writes.patch('u1'), resourceVersion: '7' } as Write
    expect(await run(write, { host: [jsonReply(live(hostCopy()))] })).toEqual(made)
    const { metadata } = JSON.parse(servers.hostServer.requests[0]?.body ?? '') as { metadata: object }
    expect(metadata).toEqual({ uid: 'u1', resourceVersion: '7' })
  })

  test('opens sealed fields', async () => {
    const target = { ...intentOf(writes.create()).target, resource: 'secrets' }
    const body = vault.sealFields(target, { data: { password: 'czNjcjN0' } })
    const write: Write = { op: 'patch', patchType: 'merge', body, uid: 'u1' }
    await run(write, { intent: { target }, host: [jsonReply(live(hostCopy()))] })
    expect(JSON.parse(servers.hostServer.requests[0]?.body ?? '')).toEqual({
      data: { password: 'czNjcjN0' },
      metadata: { uid: 'u1' },
    })
  })

  test('a JSON patch carries it as a test', async () => {
    const write: Write = { op: 'patch', patchType: 'json', body: [{ op: 'remove', path: '/data/a' }], uid: 'u1' }
    await run(write, { host: [jsonReply(live(hostCopy()))] })
    expect(JSON.parse(servers.hostServer.requests[0]?.body ?? '')).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'u1' },
      { op: 'remove', path: '/data/a' },
    ])
  })

  test('a status goes to the status subresource', async () => {
    await run(writes.status(), { intent: { target: virtualTarget }, tenant: [jsonReply(live(hostCopy()))] })
    expect(servers.tenantServer.requests[0]?.path).toBe('/api/v1/namespaces/default/pods/web/status')
  })

  test('of an object that is gone is a conflict', async () => {
    expect(await run(writes.patch(), { host: [notFound] })).toMatchObject({ result: 'conflict' })
  })
})

describe('bind', () => {
  const assigned = statusReply(409, {
    reason: 'Conflict',
    message: 'Operation cannot be fulfilled on pods/binding "web": pod web is already assigned to node "node-1"',
  })
  const podOn = (nodeName: string, uid: string): KubeObject => live({ metadata: {}, spec: { nodeName } }, { uid })
  const intent = { target: virtualTarget }

  test('sends the uid along', async () => {
    const created = jsonReply({ kind: 'Status', status: 'Success' })
    expect(await run(writes.bind('u1'), { intent, tenant: [created] })).toEqual({ result: 'done', uid: 'u1' })
    expect(JSON.parse(servers.tenantServer.requests[0]?.body ?? '')).toMatchObject({
      metadata: { uid: 'u1' },
      target: { name: 'node-1' },
    })
  })

  test.each([
    { bound: 'to this node before', pod: podOn('node-1', 'u1'), result: 'done' },
    { bound: 'to another node', pod: podOn('node-2', 'u1'), result: 'conflict' },
    { bound: 'as another pod of the name', pod: podOn('node-1', 'u2'), result: 'conflict' },
  ])('a pod bound $bound: $result', async ({ pod, result }) => {
    expect(await run(writes.bind('u1'), { intent, tenant: [assigned, jsonReply(pod)] })).toMatchObject({ result })
  })
})

describe('delete', () => {
  const confirm: Write = {
    op: 'delete',
    uid: 'u1',
    gracePeriodSeconds: 0,
    proof: { kind: 'confirm-absent', counterpart: virtualTarget, uid: 'virtual-1' },
  }
  const deleted = jsonReply({ kind: 'Status', status: 'Success' })

  test('carries uid and grace period', async () => {
    const write: Write = { op: 'delete', uid: 'u1', gracePeriodSeconds: 5, proof: { kind: 'tombstone', seq: 3 } }
    expect(await run(write, { host: [deleted] })).toEqual({ result: 'done', uid: 'u1' })
    expect(JSON.parse(servers.hostServer.requests[0]?.body ?? '')).toMatchObject({
      preconditions: { uid: 'u1' },
      gracePeriodSeconds: 5,
    })
  })

  test('of an object that is gone, or that is another one by now, is done', async () => {
    expect(await run(writes.remove(), { host: [notFound] })).toEqual({ result: 'done', uid: 'u1' })
    const other = statusReply(409, {
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on Pod "web": the UID in the precondition (u1) does not match the UID in record (u2). The object might have been deleted and then recreated',
    })
    expect(await run(writes.remove(), { host: [other] })).toEqual({ result: 'done', uid: 'u1' })
  })

  test('answered with 404 by something that is not the API is tried again', async () => {
    expect(
      await run(writes.remove(), { host: [(response) => response.writeHead(404).end('no such host')] }),
    ).toMatchObject({
      result: 'retry',
    })
  })

  test('goes on when the counterpart is confirmed absent, or is another one', async () => {
    const same = jsonReply({ metadata: { name: 'kube-system', uid: 'cluster-1' } })
    expect(await run(confirm, { identity: 'cluster-1', tenant: [notFound, same], host: [deleted] })).toMatchObject({
      result: 'done',
    })
    const other = jsonReply(live(hostCopy(), { uid: 'virtual-2' }))
    expect(await run(confirm, { tenant: [other], host: [deleted] })).toMatchObject({ result: 'done' })
  })

  test.each<{ list: string; page: object; expected: object }>([
    { list: 'says the same', page: { items: [] }, expected: { result: 'done' } },
    {
      list: 'has another of the name',
      page: { items: [live(hostCopy(), { name: 'web', uid: 'virtual-2' })] },
      expected: { result: 'done' },
    },
    {
      list: 'still has it',
      page: { items: [live(hostCopy(), { name: 'web', uid: 'virtual-1' })] },
      expected: { result: 'parked', reason: 'StillPresent' },
    },
    {
      list: 'is of an earlier version than was seen',
      page: { metadata: { resourceVersion: '99' }, items: [] },
      expected: { result: 'parked', reason: 'MassDeletion' },
    },
  ])('that speaks for many goes by the list as well, which $list', async ({ page, expected }) => {
    const proof = { kind: 'confirm-absent', counterpart: virtualTarget, uid: 'virtual-1', listed: { notBefore: '100' } }
    const same = jsonReply({ metadata: { name: 'kube-system', uid: 'cluster-1' } })
    servers.tenantServer.script('list', jsonReply({ metadata: { resourceVersion: '100' }, ...page }))
    const write = { ...confirm, proof } as Write
    expect(await run(write, { identity: 'cluster-1', tenant: [notFound, same], host: [deleted] })).toMatchObject(
      expected,
    )
  })

  test.each<{ answer: string; reply: Reply; expected: object }>([
    {
      answer: 'the counterpart itself',
      reply: jsonReply(live(hostCopy(), { uid: 'virtual-1' })),
      expected: { result: 'parked', reason: 'StillPresent' },
    },
    { answer: 'no connection', reply: resetReply, expected: { result: 'retry' } },
    { answer: '401', reply: statusReply(401), expected: { result: 'parked', reason: 'Unauthorized' } },
    { answer: '503', reply: statusReply(503), expected: { result: 'retry' } },
    {
      answer: 'that the kind is not served',
      reply: statusReply(404, { reason: 'NotFound', message: 'the server could not find …', details: {} }),
      expected: { result: 'parked', reason: 'Unsupported' },
    },
    {
      answer: 'a 404 of something else',
      reply: (response) => response.writeHead(404).end('404 page not found'),
      expected: { result: 'retry' },
    },
  ])('deletes nothing when the other side answers $answer', async ({ reply, expected }) => {
    // Twice: the client answers 401 with fresh credentials once.
    expect(await run(confirm, { tenant: [reply, reply] })).toMatchObject(expected)
    expect(servers.hostServer.requests).toEqual([])
  })

  test('deletes nothing on the word of another cluster', async () => {
    const kubeSystem = jsonReply({ metadata: { name: 'kube-system', uid: 'cluster-2' } })
    expect(await run(confirm, { tenant: [notFound, kubeSystem], identity: 'cluster-1' })).toMatchObject({
      result: 'parked',
      reason: 'StillPresent',
    })
    expect(servers.hostServer.requests).toEqual([])
  })

  test('deletes nothing as long as it is not known which cluster must answer', async () => {
    expect(await run(confirm, { tenant: [notFound] })).toMatchObject({ result: 'parked', reason: 'StillPresent' })
    expect(servers.hostServer.requests).toEqual([])
  })
})

describe('announce', () => {
  const intent = { target: { ...virtualTarget, resource: 'events', name: 'web.1' } }
  const told = { metadata: { name: 'web.1', uid: 'host-1', resourceVersion: '42' }, count: 4, lastTimestamp: 't1' }

  test('creates the Event', async () => {
    expect(await run(writes.announce(), { intent, tenant: [jsonReply(told)] })).toEqual(made)
  })

  test('raises the count of the one that is there', async () => {
    const write = writes.announce()
    if (write.op === 'announce') Object.assign(write.body, { lastTimestamp: 't2', message: 'again' })
    expect(await run(write, { intent, tenant: [exists, jsonReply(told), jsonReply(told)] })).toEqual(made)
    expect(JSON.parse(servers.tenantServer.requests[2]?.body ?? '')).toEqual({
      count: 5,
      lastTimestamp: 't2',
      message: 'again',
    })
  })

  test('does not count the same news twice', async () => {
    const write = writes.announce()
    if (write.op === 'announce') Object.assign(write.body, { lastTimestamp: 't1' })
    expect(await run(write, { intent, tenant: [exists, jsonReply(told)] })).toEqual(made)
    expect(servers.tenantServer.requests).toHaveLength(2)
  })
})

test('a kind that this build does not know is refused', async () => {
  const intent = { target: { ...virtualTarget, resource: 'widgets' } }
  expect(await run(writes.patch(), { intent })).toMatchObject({ result: 'refused', reason: 'Unsupported' })
})

test('an aborted call is nobody’s result', async () => {
  const controller = new AbortController()
  controller.abort(new Error('lease lost'))
  const route = { client: servers.tenant, name: TENANT, hostNamespace: HOST_NAMESPACE }
  const deps = {
    host: servers.host,
    route,
    vault,
    identity: async () => undefined,
    signal: controller.signal,
    timeoutMs: 1,
  }
  await expect(execute(intentOf(writes.create()), deps)).rejects.toThrow('lease lost')
})
