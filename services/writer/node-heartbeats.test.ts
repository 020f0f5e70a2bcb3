import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type KubeClient, createKubeClient } from '#libs/kube'
import {
  type FakeApiServer,
  type ManualClock,
  createManualClock,
  jsonReply,
  listReply,
  silentReply,
  startFakeApiServer,
  statusReply,
} from '#libs/kube/testing'
import { type BeatResult, NodeHeartbeats } from './node-heartbeats.ts'

const EVERY_MS = 15_000
const START = Date.UTC(2026, 0, 1)

let clock: ManualClock
let servers: Record<string, FakeApiServer>
let clients: Record<string, KubeClient>
let tenants: string[]
let results: BeatResult[]
let isHostUp: boolean
let stop: AbortController
let heartbeats: NodeHeartbeats
let running: Promise<void>

beforeEach(async () => {
  clock = createManualClock(START)
  servers = { 'team-a': await startFakeApiServer(), 'team-b': await startFakeApiServer() }
  clients = Object.fromEntries(Object.entries(servers).map(([name, { config }]) => [name, createKubeClient(config)]))
  tenants = ['team-a']
  results = []
  isHostUp = true
  stop = new AbortController()
  heartbeats = new NodeHeartbeats({
    tenants: () => tenants,
    client: (name) => clients[name],
    mayBeat: () => Promise.resolve(isHostUp),
    everyMs: EVERY_MS,
    clock,
    random: () => 0,
    counted: (result) => results.push(result),
    signal: stop.signal,
  })
})

afterEach(async () => {
  stop.abort()
  await running
  await Promise.all(Object.values(clients).map((client) => client.close()))
  await Promise.all(Object.values(servers).map((server) => server.close()))
})

const start = (): void => {
  running = heartbeats.run()
}

/** Lets time pass, in the steps in which it is looked at. */
async function pass(ms: number): Promise<void> {
  for (let step = 0; step < ms; step += 1_000) {
    await expect.poll(() => clock.asleep().length).toBeGreaterThan(0)
    clock.advance(1_000)
  }
}

const requestsOf = (tenant: string): string[] =>
  servers[tenant]?.requests.map(({ method, path }) => `${method} ${path}`) ?? []
const lease = (name: string): string => `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`
const nodes = (...names: string[]) =>
  listReply(
    names.map((name) => ({ metadata: { name, uid: `uid-of-${name}` } })),
    { resourceVersion: '5' },
  )
const renewed = jsonReply({ metadata: {} })
const notFound = statusReply(404, { reason: 'NotFound', message: 'leases "n1" not found', details: { name: 'n1' } })

describe('virtual nodes', () => {
  test('have their leases renewed, found by their label', async () => {
    servers['team-a']?.script('list', nodes('n1'))
    servers['team-a']?.script('other', renewed)
    start()
    await expect.poll(() => results).toEqual(['renewed'])
    const [list, patch] = servers['team-a']?.requests ?? []
    expect(list?.query).toMatchObject({ labelSelector: 'causeway.dev/virtual-node=true' })
    expect(`${patch?.method} ${patch?.path}`).toBe(`PATCH ${lease('n1')}`)
    expect(JSON.parse(patch?.body ?? '')).toEqual({
      spec: { holderIdentity: 'n1', leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.000000Z' },
    })
  })

  test('are asked for once and beaten for again and again', async () => {
    servers['team-a']?.script('list', nodes('n1'))
    servers['team-a']?.script('other', renewed, renewed, renewed)
    start()
    await expect.poll(() => results).toHaveLength(1)
    await pass(EVERY_MS)
    await expect.poll(() => results).toHaveLength(2)
    await pass(EVERY_MS)
    await expect.poll(() => results).toHaveLength(3)
    expect(requestsOf('team-a').filter((request) => request.startsWith('GET'))).toHaveLength(1)
  })

  test('get a lease of their own when they have none, which goes with the node', async () => {
    servers['team-a']?.script('list', nodes('n1'))
    servers['team-a']?.script('other', notFound, renewed)
    start()
    await expect.poll(() => results).toEqual(['created'])
    expect(JSON.parse(servers['team-a']?.requests.at(-1)?.body ?? '')).toMatchObject({
      metadata: {
        name: 'n1',
        namespace: 'kube-node-lease',
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'uid-of-n1' }],
      },
    })
  })

  test('that were just made are beaten for at once, and no more when they are gone', async () => {
    servers['team-a']?.script('list', nodes('n1'))
    servers['team-a']?.script('other', renewed, renewed, renewed)
    start()
    await expect.poll(() => results).toEqual(['renewed'])
    heartbeats.made('team-a', { name: 'n2', uid: 'uid-of-n2' })
    await pass(1_000)
    // Those that are there already keep their rhythm, and nothing is listed again.
    await expect.poll(() => results).toEqual(['renewed', 'renewed'])
    const first = [`PATCH ${lease('n1')}`, `PATCH ${lease('n2')}`]
    expect(requestsOf('team-a').slice(1)).toEqual(first)
    heartbeats.gone('team-a', 'n2')
    await pass(EVERY_MS)
    await expect.poll(() => results).toHaveLength(3)
    expect(requestsOf('team-a').slice(1)).toEqual([...first, `PATCH ${lease('n1')}`])
  })

  test('of a tenant that has none cost no call until they are asked for again', async () => {
    servers['team-a']?.script('list', nodes(), nodes())
    start()
    await expect.poll(() => requestsOf('team-a')).toHaveLength(1)
    await pass(18 * EVERY_MS)
    expect(requestsOf('team-a')).toHaveLength(1)
    await pass(5 * EVERY_MS)
    await expect.poll(() => requestsOf('team-a')).toHaveLength(2)
    expect(results).toEqual([])
  })

  test('are left alone while the host cannot be reached', async () => {
    isHostUp = false
    start()
    await pass(EVERY_MS)
    expect(requestsOf('team-a')).toEqual([])
    isHostUp = true
    servers['team-a']?.script('list', nodes('n1'))
    servers['team-a']?.script('other', renewed)
    await pass(EVERY_MS)
    await expect.poll(() => results).toEqual(['renewed'])
  })

  test('of one tenant do not wait for another whose API hangs', async () => {
    tenants = ['team-b', 'team-a']
    servers['team-b']?.script('list', silentReply)
    servers['team-a']?.script('list', nodes('n1'))
    servers['team-a']?.script('other', renewed, renewed)
    start()
    await expect.poll(() => results).toHaveLength(1)
    await pass(EVERY_MS)
    await expect.poll(() => results).toEqual(['renewed', 'renewed'])
  })

  test('of a tenant that is not ours any more are forgotten', async () => {
    servers['team-a']?.script('list', nodes('n1'))
    servers['team-a']?.script('other', renewed)
    start()
    await expect.poll(() => results).toHaveLength(1)
    tenants = []
    await pass(2 * EVERY_MS)
    expect(requestsOf('team-a')).toHaveLength(2)
  })

  test('whose lease cannot be renewed are counted, and tried again', async () => {
    servers['team-a']?.script('list', nodes('n1'))
    servers['team-a']?.script('other', statusReply(500), renewed)
    start()
    await expect.poll(() => results).toEqual(['failed'])
    await pass(EVERY_MS)
    await expect.poll(() => results).toEqual(['failed', 'renewed'])
  })
})
