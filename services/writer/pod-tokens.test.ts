import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PodTokens } from '#libs/events'
import { type KubeClient, createKubeClient } from '#libs/kube'
import {
  type FakeApiServer,
  type ManualClock,
  createManualClock,
  jsonReply,
  listReply,
  resetReply,
  startFakeApiServer,
  statusReply,
} from '#libs/kube/testing'
import type { KubeObject } from '#libs/kube-model'
import { type TenantConfig, parseTenantConfig } from '#libs/sync-config'
import { createLogger } from '#libs/telemetry'
import { hostNamespaceFor, kindFor } from '#libs/translation'
import { memoryRelated } from '#libs/translation/testing'
import { createVault } from '#libs/vault'
import { execute } from './execute.ts'
import { HOST_NAMESPACE, TENANT, hostCopy, intentOf } from './testing/intents.ts'
import { TokenKeeper, type TokenResult } from './token-keeper.ts'

const START = Date.UTC(2026, 0, 1)
const HOUR_S = 3_600
const SECRET = 'causeway-token-0123456789abcdef0123456789'
const SECRETS = `/api/v1/namespaces/${HOST_NAMESPACE}/secrets`
const TOKEN_REQUEST = 'POST /api/v1/namespaces/default/serviceaccounts/robot/token'
const tokens: PodTokens = {
  secret: SECRET,
  serviceAccount: 'robot',
  podUid: 'virtual-1',
  items: [{ key: 'token-0', audience: 'vault', expirationSeconds: HOUR_S }],
}

let host: FakeApiServer
let tenant: FakeApiServer
let clients: { host: KubeClient; tenant: KubeClient }

beforeEach(async () => {
  host = await startFakeApiServer()
  tenant = await startFakeApiServer()
  clients = { host: createKubeClient(host.config), tenant: createKubeClient(tenant.config) }
})
afterEach(async () => {
  await clients.host.close()
  await clients.tenant.close()
  await host.close()
  await tenant.close()
})

const issued = (token = 'secret-1', at = START) =>
  jsonReply({
    spec: { expirationSeconds: HOUR_S },
    status: { token, expirationTimestamp: new Date(at + HOUR_S * 1_000).toISOString() },
  })
const missing = (kind: string, name: string) =>
  statusReply(404, { reason: 'NotFound', message: `${kind} "${name}" not found`, details: { kind, name } })
const requests = (server: FakeApiServer) => server.requests.map(({ method, path }) => `${method} ${path}`)
const tokenSecret = (options: { renewAt?: number; owned?: boolean } = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: SECRET,
    namespace: HOST_NAMESPACE,
    uid: 'secret-uid',
    labels: { 'causeway.dev/token-of': TENANT },
    annotations: {
      'causeway.dev/name': 'web',
      'causeway.dev/namespace': 'default',
      'causeway.dev/uid': 'virtual-1',
      'causeway.dev/host-name': `${HOST_NAMESPACE}/web-x-default-x-team-a`,
      'causeway.dev/tokens': JSON.stringify({ serviceAccount: 'robot', items: tokens.items }),
      'causeway.dev/renew-at': new Date(options.renewAt ?? START + 2_880_000).toISOString(),
    },
    ...(options.owned === false
      ? {}
      : { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web-x-default-x-team-a', uid: 'host-1' }] }),
  },
  data: { 'token-0': 'b2xk' },
})
const copy = { ...hostCopy(), metadata: { ...hostCopy().metadata, uid: 'host-1', resourceVersion: '42' } }

describe('creating a pod that mounts tokens', () => {
  const run = () =>
    execute(intentOf({ op: 'create', body: hostCopy(), tokens }), {
      host: clients.host,
      route: { client: clients.tenant, name: TENANT, hostNamespace: HOST_NAMESPACE },
      vault: createVault({ active: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) }),
      identity: async () => undefined,
      signal: new AbortController().signal,
      timeoutMs: 5_000,
    })

  test('puts them on the host first, and lets them go with the pod', async () => {
    tenant.script('other', issued())
    host.script('other', jsonReply(tokenSecret()), jsonReply(copy), jsonReply(tokenSecret()))
    expect(await run()).toEqual({ result: 'done', uid: 'host-1', resourceVersion: '42' })
    expect(requests(tenant)).toEqual([TOKEN_REQUEST])
    expect(JSON.parse(tenant.requests[0]?.body ?? '')).toMatchObject({
      spec: {
        audiences: ['vault'],
        expirationSeconds: HOUR_S,
        boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'web', uid: 'virtual-1' },
      },
    })
    expect(requests(host)).toEqual([
      `POST ${SECRETS}`,
      `POST /api/v1/namespaces/${HOST_NAMESPACE}/pods`,
      `PATCH ${SECRETS}/${SECRET}`,
    ])
    const body = JSON.parse(host.requests[0]?.body ?? '') as KubeObject
    expect(body.metadata.annotations).toEqual(tokenSecret().metadata.annotations)
    expect(body.metadata.labels).toEqual({ 'causeway.dev/token-of': TENANT })
    expect(body.data).toEqual({ 'token-0': Buffer.from('secret-1').toString('base64') })
    expect(JSON.parse(host.requests[2]?.body ?? '')).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Pod', name: 'web-x-default-x-team-a', uid: 'host-1' }] },
    })
  })

  test('renews what an earlier attempt has put there', async () => {
    tenant.script('other', issued())
    const taken = statusReply(409, { reason: 'AlreadyExists', message: 'exists' })
    host.script('other', taken, jsonReply(tokenSecret()), jsonReply(tokenSecret()), jsonReply(copy), jsonReply({}))
    expect(await run()).toMatchObject({ result: 'done' })
    expect(JSON.parse(host.requests[2]?.body ?? '')).toMatchObject({ metadata: { uid: 'secret-uid' } })
  })

  test('leaves a Secret alone that is not ours, and makes no pod', async () => {
    tenant.script('other', issued())
    host.script('other', statusReply(409, { reason: 'AlreadyExists', message: 'exists' }), jsonReply({ metadata: {} }))
    expect(await run()).toMatchObject({ result: 'parked', reason: 'ForeignObject' })
    expect(host.requests).toHaveLength(2)
  })

  test('waits for a service account that is not there', async () => {
    tenant.script('other', missing('serviceaccounts', 'robot'))
    expect(await run()).toEqual({
      result: 'parked',
      reason: 'TokenRefused',
      message: 'serviceaccounts "robot" not found',
    })
    expect(host.requests).toEqual([])
  })

  test('does not take the host for down when it is the tenant’s API that does not answer', async () => {
    tenant.script('other', resetReply)
    expect(await run()).toMatchObject({ result: 'retry', isUp: true })
  })

  test('counts where only handing them over failed', async () => {
    tenant.script('other', issued())
    host.script('other', jsonReply(tokenSecret()), jsonReply(copy), statusReply(500))
    expect(await run()).toMatchObject({ result: 'done' })
  })
})

describe('the keeper of tokens', () => {
  let clock: ManualClock
  let results: TokenResult[]
  let stop: AbortController
  let start: () => void
  let running: Promise<void>
  let config: { config?: TenantConfig }

  beforeEach(() => {
    config = {}
    clock = createManualClock(START)
    results = []
    stop = new AbortController()
    const keeper = new TokenKeeper({
      tenants: () => [TENANT],
      directory: {
        host: () => clients.host,
        tenant: () => ({ client: clients.tenant, name: TENANT, hostNamespace: HOST_NAMESPACE, ...config }),
      },
      mayWrite: () => true,
      clock,
      random: () => 0,
      logger: createLogger({ service: 'test', level: 'silent' }),
      counted: (result) => results.push(result),
      signal: stop.signal,
    })
    start = () => {
      running = keeper.run()
    }
  })
  afterEach(async () => {
    stop.abort()
    await running
  })

  const pass = async (ms: number): Promise<void> => {
    await expect.poll(() => clock.asleep().length).toBeGreaterThan(0)
    clock.advance(ms)
  }

  test('asks for them anew when four fifths of their life are over', async () => {
    host.script('list', listReply([tokenSecret()], { resourceVersion: '9' }))
    host.script('other', jsonReply(tokenSecret()), jsonReply(copy), jsonReply(tokenSecret()))
    tenant.script('other', issued('secret-2', START + 2_880_000))
    start()
    await expect.poll(() => requests(host)).toEqual([`GET ${SECRETS}`])
    expect(host.requests[0]?.query).toMatchObject({ labelSelector: `causeway.dev/token-of=${TENANT}` })
    host.script('list', listReply([tokenSecret()], { resourceVersion: '9' }))
    await pass(2_880_000)
    await expect.poll(() => results).toEqual(['renewed'])
    expect(requests(tenant)).toEqual([TOKEN_REQUEST])
    expect(JSON.parse(host.requests.at(-1)?.body ?? '')).toEqual({
      metadata: {
        uid: 'secret-uid',
        annotations: { 'causeway.dev/renew-at': new Date(START + 2_880_000 + 2_880_000).toISOString() },
      },
      data: { 'token-0': Buffer.from('secret-2').toString('base64') },
    })
  })

  test('gives a Secret that nobody owns to the pod that mounts it', async () => {
    host.script('list', listReply([tokenSecret({ owned: false })], { resourceVersion: '9' }))
    host.script('other', jsonReply(tokenSecret({ owned: false })), jsonReply(copy), jsonReply(tokenSecret()))
    start()
    await expect.poll(() => requests(host).at(-1)).toBe(`PATCH ${SECRETS}/${SECRET}`)
    expect(JSON.parse(host.requests.at(-1)?.body ?? '')).toMatchObject({
      metadata: { ownerReferences: [{ uid: 'host-1' }] },
    })
    expect(tenant.requests).toEqual([])
  })

  test('removes a Secret whose pod is gone on both sides', async () => {
    host.script('list', listReply([tokenSecret({ owned: false })], { resourceVersion: '9' }))
    host.script('other', jsonReply(tokenSecret()), missing('pods', 'web-x-default-x-team-a'), jsonReply({}))
    tenant.script('other', missing('pods', 'web'))
    start()
    await expect.poll(() => results).toEqual(['removed'])
    expect(host.requests.at(-1)).toMatchObject({ method: 'DELETE', path: `${SECRETS}/${SECRET}` })
    expect(JSON.parse(host.requests.at(-1)?.body ?? '')).toMatchObject({ preconditions: { uid: 'secret-uid' } })
  })

  test('keeps a Secret whose pod is about to be created', async () => {
    host.script('list', listReply([tokenSecret({ owned: false })], { resourceVersion: '9' }))
    host.script('other', jsonReply(tokenSecret()), missing('pods', 'web-x-default-x-team-a'))
    tenant.script('other', jsonReply({ metadata: { name: 'web', uid: 'virtual-1' } }))
    start()
    await expect.poll(() => requests(tenant)).toEqual(['GET /api/v1/namespaces/default/pods/web'])
    await expect.poll(() => clock.asleep().length).toBeGreaterThan(0)
    expect(requests(host).filter((request) => !request.startsWith('GET'))).toEqual([])
  })

  test('tries again when the tenant’s API does not answer', async () => {
    const due = tokenSecret({ renewAt: START })
    host.script('list', listReply([due], { resourceVersion: '9' }))
    host.script('other', jsonReply(due), jsonReply(copy))
    tenant.script('other', resetReply)
    start()
    await expect.poll(() => results).toEqual(['failed'])
    host.script('other', jsonReply(due), jsonReply(copy), jsonReply(due))
    tenant.script('other', issued())
    await pass(31_000)
    await expect.poll(() => results).toEqual(['failed', 'renewed'])
  })

  describe('of a tenant whose namespaces have host namespaces of their own', () => {
    const place = hostNamespaceFor('default', { name: TENANT, hostNamespace: HOST_NAMESPACE, ...spread() })
    const secrets = `/api/v1/namespaces/${place}/secrets`
    const inPlace = (options: Parameters<typeof tokenSecret>[0] & { namespace?: string } = {}): KubeObject => {
      const secret = tokenSecret(options)
      const annotations = {
        ...secret.metadata.annotations,
        'causeway.dev/host-name': `${place}/web-x-default-x-team-a`,
      }
      return { ...secret, metadata: { ...secret.metadata, annotations, namespace: options.namespace ?? place } }
    }
    const stamped = (name: string): KubeObject => {
      const virtual = { metadata: { name, uid: 'n1' } }
      const of = { name: TENANT, hostNamespace: HOST_NAMESPACE, ...spread() }
      const made = kindFor('namespaces')?.toHost({ virtual, tenant: of, related: memoryRelated() })
      if (made?.kind !== 'object') throw new Error('the namespace has no copy')
      return made.object
    }

    beforeEach(() => {
      config = spread()
    })

    test('finds them in all of these, and renews each where its pod is', async () => {
      const due = inPlace({ renewAt: START })
      host.script('list', listReply([due], { resourceVersion: '9' }))
      host.script('other', jsonReply(due), jsonReply(stamped('default')), jsonReply(copy), jsonReply(due))
      tenant.script('other', issued())
      start()
      await expect.poll(() => results).toEqual(['renewed'])
      expect(requests(host)).toEqual([
        'GET /api/v1/secrets',
        `GET ${secrets}/${SECRET}`,
        `GET /api/v1/namespaces/${place}`,
        `GET /api/v1/namespaces/${place}/pods/web-x-default-x-team-a`,
        `PATCH ${secrets}/${SECRET}`,
      ])
      expect(requests(tenant)).toEqual([TOKEN_REQUEST])
    })

    test('renews those of the same name in two namespaces apart', async () => {
      const elsewhere = hostNamespaceFor('other', { name: TENANT, hostNamespace: HOST_NAMESPACE, ...spread() })
      const other = inPlace({ renewAt: START, namespace: elsewhere })
      const annotations = { ...other.metadata.annotations, 'causeway.dev/namespace': 'other' }
      const both = [inPlace({ renewAt: START + 1_000 }), { ...other, metadata: { ...other.metadata, annotations } }]
      host.script('list', listReply(both, { resourceVersion: '9' }))
      host.script('other', jsonReply(both[1]), jsonReply(stamped('other')), jsonReply(copy), jsonReply({}))
      tenant.script('other', issued())
      start()
      await expect.poll(() => results).toEqual(['renewed'])
      host.script('other', jsonReply(both[0]), jsonReply(stamped('default')), jsonReply(copy), jsonReply({}))
      tenant.script('other', issued())
      await pass(2_000)
      await expect.poll(() => results).toEqual(['renewed', 'renewed'])
      const patched = requests(host).filter((request) => request.startsWith('PATCH'))
      expect(patched).toEqual([`PATCH /api/v1/namespaces/${elsewhere}/secrets/${SECRET}`, `PATCH ${secrets}/${SECRET}`])
    })

    test.each([
      ['in a namespace that stands for none of the tenant’s', 'somebody-elses', undefined],
      ['where the namespace of the right name is somebody else’s', place, { metadata: { name: place, uid: 'n3' } }],
      ['where the namespace stands for another', place, stamped('another')],
    ])('neither fills nor removes a Secret %s', async (_what, namespace, found) => {
      const due = inPlace({ renewAt: START, namespace, owned: false })
      host.script('list', listReply([due], { resourceVersion: '9' }))
      host.script('other', jsonReply(due), ...(found === undefined ? [] : [jsonReply(found)]))
      start()
      await expect.poll(() => host.requests.length).toBe(found === undefined ? 2 : 3)
      await expect.poll(() => clock.asleep().length).toBeGreaterThan(0)
      expect(requests(host).filter((request) => !request.startsWith('GET'))).toEqual([])
      expect(tenant.requests).toEqual([])
      expect(results).toEqual([])
    })
  })
})

function spread(): { config: TenantConfig } {
  const { config } = parseTenantConfig({ sync: { toHost: { namespaces: { enabled: true } } } })
  if (config === undefined) throw new Error('the configuration is not valid')
  return { config }
}
