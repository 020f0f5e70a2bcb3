import { describe, expect, test } from 'vitest'
import type { LoggedIntent, Write } from '#libs/events'
import { type FakeApiServer, type Reply, jsonReply, listReply, resetReply, statusReply } from '#libs/kube/testing'
import { type JsonObject, type KubeObject, type ObjectKey, RESOURCES } from '#libs/kube-model'
import { replacementMark } from '#libs/translation'
import { createVault } from '#libs/vault'
import { execute } from './execute.ts'
import { untilLetGo } from './let-go.ts'
import type { Attempt } from './result.ts'
import { HOST_NAMESPACE, TENANT, hostCopy, intentOf } from './testing/intents.ts'
import { twoServers } from './testing/two-servers.ts'

const target: ObjectKey = {
  tenant: TENANT,
  side: 'virtual',
  resource: 'services',
  namespace: 'default',
  name: 'web',
}
const body: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default', labels: { app: 'web' } },
  spec: {
    type: 'NodePort',
    selector: { app: 'web' },
    clusterIP: '10.96.0.7',
    clusterIPs: ['10.96.0.7'],
    ports: [{ port: 80, nodePort: 31000 }],
  },
}
const copyName = 'web-x-default-x-team-a'
const write: Extract<Write, { op: 'replace' }> = {
  op: 'replace',
  body,
  uid: 'old',
  resourceVersion: '5',
  copy: { name: copyName, uid: 'host-1' },
}

const old: KubeObject = { ...body, metadata: { ...body.metadata, uid: 'old', resourceVersion: '5' } }
const fresh: KubeObject = { ...body, metadata: { ...body.metadata, uid: 'new', resourceVersion: '9' } }
const copy = copyWith({})
const marked = copyWith({ 'causeway.dev/replacement': replacementMark(write) })

const notFound = statusReply(404, {
  reason: 'NotFound',
  message: 'services "web" not found',
  details: { name: 'web', kind: 'services' },
})
const exists = statusReply(409, { reason: 'AlreadyExists', message: 'services "web" already exists' })
const taken = statusReply(422, {
  reason: 'Invalid',
  message: 'spec.clusterIPs: Invalid value: ["10.96.0.7"]: provided IP is already allocated',
})
const none = listReply([], { resourceVersion: '5' })

const servers = twoServers()

type Script = { host: Reply[]; tenant: Reply[]; list?: Reply; write?: Write; intent?: Partial<LoggedIntent> }

/** Executes with what the two servers will answer, in order. */
async function run(script: Script): Promise<Attempt> {
  servers.hostServer.script('other', ...script.host)
  servers.tenantServer.script('other', ...script.tenant)
  servers.tenantServer.script('list', script.list ?? none)
  return await execute(intentOf(script.write ?? write, { target, ...script.intent }), {
    host: servers.host,
    route: { client: servers.tenant, name: TENANT, hostNamespace: HOST_NAMESPACE },
    vault: createVault({ active: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) }),
    identity: async () => undefined,
    signal: new AbortController().signal,
    timeoutMs: 5_000,
  })
}

/** What was asked of a server besides reads. */
function writesTo(server: FakeApiServer): string[] {
  return server.requests
    .filter(({ method }) => method !== 'GET')
    .map(({ method, query }) => (query['dryRun'] === undefined ? method : `${method} dry`))
}

const bodyOf = (server: FakeApiServer, at: number): unknown => JSON.parse(server.requests.at(at)?.body ?? 'null')

describe('making a Service anew', () => {
  test('asks the API first, keeps the body on the copy, deletes that very state and creates', async () => {
    const attempt = await run({
      host: [jsonReply(copy), jsonReply(marked)],
      tenant: [jsonReply(old), jsonReply(fresh), jsonReply({ kind: 'Status' }), jsonReply(fresh)],
    })
    expect(attempt).toEqual({ result: 'done', uid: 'new', resourceVersion: '9' })
    expect(writesTo(servers.tenantServer)).toEqual(['POST dry', 'DELETE', 'POST'])
    expect(bodyOf(servers.tenantServer, -2)).toMatchObject({ preconditions: { uid: 'old', resourceVersion: '5' } })
    expect(bodyOf(servers.tenantServer, -1)).toEqual(body)
    expect(bodyOf(servers.hostServer, -1)).toEqual({
      metadata: { uid: 'host-1', annotations: { 'causeway.dev/replacement': replacementMark(write) } },
    })
  })

  test('tries under another name and without the node ports that the old one still holds', async () => {
    await run({ host: [jsonReply(copy)], tenant: [jsonReply(old), taken] })
    expect(bodyOf(servers.tenantServer, -1)).toEqual({
      ...body,
      metadata: { generateName: 'causeway-', namespace: 'default', labels: { app: 'web' } },
      spec: {
        type: 'NodePort',
        selector: { app: 'web' },
        clusterIP: '10.96.0.7',
        clusterIPs: ['10.96.0.7'],
        ports: [{ port: 80 }],
      },
    })
  })

  test.each<{ what: string; script: Partial<Script>; says: string }>([
    { what: 'its API refuses the new one', script: { tenant: [jsonReply(old), taken] }, says: 'already allocated' },
    {
      what: 'another Service has the address',
      script: {
        tenant: [jsonReply(old), jsonReply(fresh)],
        list: listReply([{ ...fresh, metadata: { name: 'other', namespace: 'shop' } }], { resourceVersion: '5' }),
      },
      says: 'shop/other',
    },
  ])('touches nothing when $what', async ({ script, says }) => {
    const attempt = await run({ host: [jsonReply(copy)], tenant: [], ...script })
    expect(attempt).toMatchObject({ result: 'parked', reason: 'Unsupported', message: expect.stringContaining(says) })
    expect(writesTo(servers.tenantServer)).toEqual(['POST dry'])
    expect(writesTo(servers.hostServer)).toEqual([])
  })

  test('goes without asking who has the address where the API cannot select by it', async () => {
    const attempt = await run({
      host: [jsonReply(copy), jsonReply(marked)],
      tenant: [jsonReply(old), jsonReply(fresh), jsonReply({ kind: 'Status' }), jsonReply(fresh)],
      list: statusReply(400, { reason: 'BadRequest', message: 'field label not supported: spec.clusterIP' }),
    })
    expect(attempt).toMatchObject({ result: 'done' })
  })

  test.each<{ what: string; script: Script }>([
    { what: 'the tenant has deleted it', script: { host: [jsonReply(copy)], tenant: [notFound] } },
    {
      what: 'the tenant is deleting it',
      script: {
        host: [jsonReply(copy)],
        tenant: [jsonReply({ ...old, metadata: { ...old.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })],
      },
    },
    {
      what: 'the tenant has changed it',
      script: {
        host: [jsonReply(copy)],
        tenant: [jsonReply({ ...old, metadata: { ...old.metadata, resourceVersion: '6' } })],
      },
    },
    {
      what: 'another object has its name',
      script: { host: [jsonReply(copy)], tenant: [jsonReply({ ...fresh, spec: { clusterIP: '10.96.3.3' } })] },
    },
    { what: 'the copy is gone', script: { host: [notFound], tenant: [jsonReply(old)] } },
    {
      what: 'the copy is another one',
      script: {
        host: [jsonReply({ ...copy, metadata: { ...copy.metadata, uid: 'host-2' } })],
        tenant: [jsonReply(old)],
      },
    },
    {
      what: 'what has the name of the copy is not ours',
      script: { host: [jsonReply({ metadata: { name: copyName, uid: 'host-1' } })], tenant: [jsonReply(old)] },
    },
  ])('does nothing when $what', async ({ script }) => {
    expect(await run(script)).toMatchObject({ result: 'conflict' })
    expect([...writesTo(servers.tenantServer), ...writesTo(servers.hostServer)]).toEqual([])
  })

  test.each([
    ['deletes', notFound],
    ['changes', statusReply(409, { reason: 'Conflict', message: 'the ResourceVersion in the precondition …' })],
  ])('gives up when the tenant %s it in the last moment, and takes the note off the copy', async (_, reply) => {
    const attempt = await run({
      host: [jsonReply(copy), jsonReply(marked), jsonReply(copy)],
      tenant: [jsonReply(old), jsonReply(fresh), reply],
    })
    expect(attempt).toMatchObject({ result: 'conflict' })
    expect(writesTo(servers.tenantServer)).toEqual(['POST dry', 'DELETE'])
    expect(bodyOf(servers.hostServer, -1)).toMatchObject({
      metadata: { annotations: { 'causeway.dev/replacement': null } },
    })
  })
})

describe('a Service without selector', () => {
  const { selector: _, ...spec } = body['spec'] as JsonObject
  const bare = { ...write, body: { ...body, spec } }
  const subsets = [{ addresses: [{ ip: '192.0.2.4' }], ports: [{ port: 80 }] }]
  const endpoints: KubeObject = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'web', namespace: 'default', labels: { app: 'web' } },
    subsets,
  }
  const found = { ...endpoints, metadata: { ...endpoints.metadata, uid: 'e1', resourceVersion: '3' } }
  const restored = { ...endpoints, metadata: { ...endpoints.metadata, uid: 'e2', resourceVersion: '8' } }

  test('keeps its Endpoints, which the tenant’s controllers delete with it', async () => {
    const attempt = await run({
      host: [jsonReply(copy), jsonReply(marked)],
      tenant: [
        jsonReply(old),
        jsonReply(fresh),
        jsonReply(found),
        jsonReply({ kind: 'Status' }),
        jsonReply(found),
        notFound,
        jsonReply(fresh),
        jsonReply(restored),
      ],
      write: bare,
    })
    expect(attempt).toMatchObject({ result: 'done', uid: 'new' })
    expect(writesTo(servers.tenantServer)).toEqual(['POST dry', 'DELETE', 'POST', 'POST'])
    expect(bodyOf(servers.tenantServer, -1)).toEqual(endpoints)
    const note = replacementMark({ ...bare, endpoints })
    expect(bodyOf(servers.hostServer, -1)).toMatchObject({
      metadata: { annotations: { 'causeway.dev/replacement': note } },
    })
  })

  test('has them back also where the work broke off in between', async () => {
    const noted = copyWith({ 'causeway.dev/replacement': replacementMark({ ...bare, endpoints }) })
    const tenant = [notFound, jsonReply(fresh), jsonReply(restored)]
    expect(await run({ host: [jsonReply(noted)], tenant, write: bare })).toMatchObject({ result: 'done' })
    expect(bodyOf(servers.tenantServer, -1)).toEqual(endpoints)
    // The Service was made, and then it broke off.
    const again = await run({ host: [jsonReply(noted)], tenant: [jsonReply(fresh), exists], write: bare })
    expect(again).toMatchObject({ result: 'done' })
  })

  test('needs nothing of the kind where it has none', async () => {
    const tenant = [jsonReply(old), jsonReply(fresh), notFound, jsonReply({ kind: 'Status' }), jsonReply(fresh)]
    expect(await run({ host: [jsonReply(copy), jsonReply(marked)], tenant, write: bare })).toMatchObject({
      result: 'done',
    })
    expect(writesTo(servers.tenantServer)).toEqual(['POST dry', 'DELETE', 'POST'])
  })
})

describe('a Service that owns other objects', () => {
  const going: KubeObject = {
    ...old,
    metadata: { ...old.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['orphan'] },
  }

  test('goes without them, once the tenant’s garbage collector has let it go', async () => {
    const attempt = await run({
      host: [jsonReply(copy), jsonReply(marked)],
      tenant: [jsonReply(old), jsonReply(fresh), jsonReply(going), jsonReply(going), notFound, jsonReply(fresh)],
    })
    expect(attempt).toMatchObject({ result: 'done', uid: 'new' })
    const deletion = servers.tenantServer.requests.find(({ method }) => method === 'DELETE')
    expect(JSON.parse(deletion?.body ?? 'null')).toMatchObject({ propagationPolicy: 'Orphan' })
  })

  test('is waited for by the next attempt as well', async () => {
    const tenant = [jsonReply(going), notFound, jsonReply(fresh)]
    expect(await run({ host: [jsonReply(marked)], tenant })).toMatchObject({ result: 'done', uid: 'new' })
    expect(writesTo(servers.tenantServer)).toEqual(['POST'])
  })

  test('is left alone where the tenant has deleted it like that', async () => {
    expect(await run({ host: [jsonReply(copy)], tenant: [jsonReply(going)] })).toMatchObject({ result: 'conflict' })
    expect(writesTo(servers.tenantServer)).toEqual([])
  })

  test('is let go by us where no garbage collector does', async () => {
    const other = { ...going, metadata: { ...going.metadata, finalizers: ['example.com/mine', 'orphan'] } }
    servers.tenantServer.script('other', jsonReply(other))
    const intent = intentOf(write, { target })
    const options = { signal: new AbortController().signal, timeoutMs: 5_000 }
    await untilLetGo(other, { client: servers.tenant, resource: RESOURCES.services, options, intent }, 0)
    expect(bodyOf(servers.tenantServer, -1)).toEqual({
      metadata: { uid: 'old', resourceVersion: '5', finalizers: ['example.com/mine'] },
    })
  })
})

describe('a replacement that broke off after the deletion', () => {
  const { resourceVersion: _, ...secondHalf } = write

  test.each([
    ['as it was first asked for', write],
    ['as decided from the copy alone', secondHalf],
  ])('is gone on with, %s', async (_title, again) => {
    const attempt = await run({ host: [jsonReply(marked)], tenant: [notFound, jsonReply(fresh)], write: again })
    expect(attempt).toEqual({ result: 'done', uid: 'new', resourceVersion: '9' })
    expect(writesTo(servers.tenantServer)).toEqual(['POST'])
  })

  test('is done when the new one is there', async () => {
    expect(await run({ host: [jsonReply(marked)], tenant: [jsonReply(fresh)] })).toMatchObject({ result: 'done' })
    expect(writesTo(servers.tenantServer)).toEqual([])
  })

  test('is tried again while the API does not answer', async () => {
    const attempt = await run({
      host: [jsonReply(copy), jsonReply(marked)],
      tenant: [jsonReply(old), jsonReply(fresh), jsonReply({ kind: 'Status' }), resetReply],
    })
    expect(attempt).toMatchObject({ result: 'retry' })
    expect(writesTo(servers.hostServer)).toEqual(['PATCH'])
  })

  test('is called off, by what the copy says alone, when the old one is there after all', async () => {
    const attempt = await run({
      host: [jsonReply(marked), jsonReply(copy)],
      tenant: [jsonReply(old)],
      write: secondHalf,
    })
    expect(attempt).toMatchObject({ result: 'conflict' })
    expect(writesTo(servers.tenantServer)).toEqual([])
    expect(bodyOf(servers.hostServer, -1)).toMatchObject({
      metadata: { annotations: { 'causeway.dev/replacement': null } },
    })
  })

  test('waits while finalizers keep the old one', async () => {
    const attempt = await run({ host: [jsonReply(marked)], tenant: [notFound, exists, jsonReply(old)] })
    expect(attempt).toMatchObject({ result: 'conflict', message: expect.stringContaining('finalizers') })
  })

  test('brings the Service back with an address of its own when the API does not take the new one', async () => {
    const attempt = await run({ host: [jsonReply(marked)], tenant: [notFound, taken, jsonReply(fresh)] })
    expect(attempt).toMatchObject({
      result: 'parked',
      reason: 'Unsupported',
      message: expect.stringContaining('already allocated'),
    })
    expect(bodyOf(servers.tenantServer, -1)).toMatchObject({
      metadata: { annotations: { 'causeway.dev/refused-address': '10.96.0.7' } },
      spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 31000 }] },
    })
    expect(bodyOf(servers.tenantServer, -1)).not.toHaveProperty('spec.clusterIP')
  })

  test('brings it back without its node ports when those are gone as well', async () => {
    await run({ host: [jsonReply(marked)], tenant: [notFound, taken, taken, jsonReply(fresh)] })
    expect(bodyOf(servers.tenantServer, -1)).toMatchObject({ spec: { ports: [{ port: 80 }] } })
    expect(bodyOf(servers.tenantServer, -1)).not.toHaveProperty('spec.ports.0.nodePort')
  })

  test('is parked with its note in place when nothing at all is taken', async () => {
    const attempt = await run({ host: [jsonReply(marked)], tenant: [notFound, taken, taken, taken] })
    expect(attempt).toMatchObject({ result: 'parked', reason: 'Invalid' })
    expect(writesTo(servers.hostServer)).toEqual([])
  })

  test('ends when the namespace goes: the tenant wants none of it any more', async () => {
    const terminating = statusReply(403, {
      reason: 'Forbidden',
      message: 'services "web" is forbidden: unable to create new content in namespace default',
      details: { name: 'web', kind: 'services', causes: [{ reason: 'NamespaceTerminating' }] },
    })
    const attempt = await run({ host: [jsonReply(marked), jsonReply(copy)], tenant: [notFound, terminating] })
    expect(attempt).toMatchObject({ result: 'conflict' })
    expect(bodyOf(servers.hostServer, -1)).toMatchObject({
      metadata: { annotations: { 'causeway.dev/replacement': null } },
    })
  })
})

function copyWith(annotations: Record<string, string>): KubeObject {
  const { metadata } = hostCopy({ resource: 'services' })
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, uid: 'host-1', annotations: { ...metadata.annotations, ...annotations } },
  }
}
