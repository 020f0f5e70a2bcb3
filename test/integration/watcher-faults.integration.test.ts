import { afterEach, beforeEach, expect, test } from 'vitest'
import { openKv } from '#libs/bus'
import { partitionOf } from '#libs/events'
import { systemClock } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'
import {
  type FakeApiServer,
  type Reply,
  eventLine,
  jsonReply,
  listReply,
  startFakeApiServer,
  statusReply,
  streamReply,
} from '#libs/kube/testing'
import { giveOrder } from '#libs/runtime'
import { defaultTenantConfig } from '#libs/sync-config'
import { watchedVirtual } from '#libs/translation'
import { type WatcherFixture, registerFake, startFixture } from './watcher-fixture.ts'

/** What the scripted cluster answers; the tests change it. */
type Scripted = {
  identity: Reply
  listed: KubeObject[]
  /** By name. */
  readable: Map<string, KubeObject>
  /** Answer to reads of what is not in `readable`. */
  unreadable: (name: string) => Reply
  /** Answer to watches of ConfigMaps. */
  watch: Reply
}

const notFound = (name: string): Reply =>
  statusReply(404, { reason: 'NotFound', details: { name, kind: 'configmaps' } })
const hold = streamReply([], 'hold')
const expired = statusReply(410, { reason: 'Expired' })
const configmap = (name: string, uid = `uid-${name}`): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', uid, resourceVersion: '5' },
})

let fixture: WatcherFixture
let fake: FakeApiServer
let cluster: Scripted
/** How often each path was listed. */
let listings: Map<string, number>

beforeEach(async () => {
  // Long leases: they outlive a log that is away for a moment.
  fixture = await startFixture(['host'], { leaseTtlMs: 10_000 })
  await fixture.registry.setHost({ kubeconfig: fixture.apiserver.kubeconfigFile('host') })
  fake = await startFakeApiServer()
  listings = new Map()
  cluster = {
    identity: jsonReply({ metadata: { name: 'kube-system', uid: 'cluster-1' } }),
    listed: Array.from({ length: 12 }, (_, index) => configmap(`cm-${index}`)),
    readable: new Map(),
    unreadable: notFound,
    watch: hold,
  }
  const named = (path: string): Reply => {
    if (path.endsWith('/namespaces/kube-system')) return cluster.identity
    const name = path.split('/').at(-1) ?? ''
    const object = cluster.readable.get(name)
    return object === undefined ? cluster.unreadable(name) : jsonReply(object)
  }
  const answer: Reply = (response, request) => {
    const url = new URL(request.url ?? '/', 'http://fake')
    const reply = (): Reply => {
      const isOurs = url.pathname.includes('/configmaps')
      if (url.searchParams.has('watch')) return isOurs ? cluster.watch : hold
      if (!url.searchParams.has('limit')) return named(url.pathname)
      listings.set(url.pathname, (listings.get(url.pathname) ?? 0) + 1)
      return listReply(isOurs ? cluster.listed : [], { resourceVersion: '9' })
    }
    reply()(response, request)
  }
  for (const kind of ['list', 'watch', 'other'] as const)
    fake.script(kind, ...Array.from({ length: 2_000 }, () => answer))
  await registerFake(fixture, 'team-f', fake)
})
afterEach(async () => {
  await fixture.close()
  await fake.close()
})

const changes = async () =>
  (await fixture.changes()).filter(({ key }) => key.resource === 'configmaps' && key.side === 'virtual')
const count = async (type: string) => (await changes()).filter((change) => change.type === type).length

/** Runs a watcher until it has closed one more list of ConfigMaps. */
async function listOnce(instance: string): Promise<void> {
  const before = await count('SYNCED')
  const watcher = await fixture.watcher(instance)
  await expect.poll(() => count('SYNCED'), { timeout: 15_000 }).toBe(before + 1)
  await expect.poll(() => watcher.role.notReady(), { timeout: 15_000 }).toEqual([])
  await watcher.close()
}

/** The next watch finds its history compacted, the one after the list that follows is quiet. */
function expireOnce(): void {
  cluster.watch = (response, request) => {
    cluster.watch = hold
    expired(response, request)
  }
}

test('an empty list deletes nothing that a live read finds', async () => {
  await listOnce('w1')
  expect(await count('ADDED')).toBe(12)
  for (const object of cluster.listed) cluster.readable.set(object.metadata.name ?? '', object)
  cluster.listed = []
  expireOnce()
  await listOnce('w2')
  expect(await count('DELETED')).toBe(0)
})

test('what an empty list left out beside what is known is found by the list that follows it', async () => {
  await listOnce('w1')
  const { listed } = cluster
  for (const object of listed) cluster.readable.set(object.metadata.name ?? '', object)
  const lists = [[]]
  Object.defineProperty(cluster, 'listed', { get: () => lists.shift() ?? [...listed, configmap('made-meanwhile')] })
  expireOnce()
  const watcher = await fixture.watcher('w2')
  await expect.poll(() => count('ADDED'), { timeout: 15_000 }).toBe(13)
  await watcher.close()
  expect(await count('DELETED')).toBe(0)
})

test('a first list that is empty is looked at once more: what it left out is published soon', async () => {
  const { listed } = cluster
  let asked = 0
  Object.defineProperty(cluster, 'listed', { get: () => (asked++ === 0 ? [] : listed) })
  // No verification comes while the test runs.
  const { role } = await fixture.watcher('w1', { verifyEveryMs: 1_000_000_000 })
  await expect.poll(() => count('ADDED'), { timeout: 30_000 }).toBe(12)
  await expect.poll(() => count('SYNCED')).toBe(2)
  const kinds = role.statuses().filter(({ tenant }) => tenant === 'team-f').length
  const lists = () => [...listings].filter(([path]) => !path.endsWith('/configmaps')).map(([, lists]) => lists)
  // A kind that is empty indeed: its list, and one look.
  await expect.poll(lists, { timeout: 30_000 }).toEqual(Array.from({ length: kinds - 1 }, () => 2))
  const ofServices = (await fixture.changes()).filter(
    ({ key }) => key.side === 'virtual' && key.resource === 'services',
  )
  expect(ofServices.map(({ type }) => type)).toEqual(['SYNCED'])
  expect(asked).toBe(3)
})

test('an empty list deletes nothing while reads fail, or while another cluster answers', async () => {
  await listOnce('w1')
  cluster.listed = []
  cluster.unreadable = () => statusReply(503)
  expireOnce()
  await listOnce('w2')
  expect(await count('DELETED')).toBe(0)

  // The identity is right when the list begins, and another before the first read is.
  cluster.unreadable = notFound
  const right = cluster.identity
  cluster.watch = (response, request) => {
    cluster.watch = hold
    const { listed } = cluster
    Object.defineProperty(cluster, 'listed', {
      configurable: true,
      get: () => {
        cluster.identity = jsonReply({ metadata: { name: 'kube-system', uid: 'cluster-2' } })
        return listed
      },
    })
    expired(response, request)
  }
  const watcher = await fixture.watcher('w3')
  await expect
    .poll(() => watcher.role.statuses().filter(({ state }) => state === 'cluster-changed').length, { timeout: 15_000 })
    .toBe(watchedVirtual(defaultTenantConfig()).length)
  await watcher.close()
  expect(await count('DELETED')).toBe(0)
  Object.defineProperty(cluster, 'listed', { value: [], writable: true, configurable: true })
  cluster.identity = right
})

test('what live reads do not find in the same cluster is published as deleted, once', async () => {
  await listOnce('w1')
  cluster.listed = [configmap('cm-0'), configmap('cm-1', 'uid-new')]
  expireOnce()
  await listOnce('w2')
  const all = await changes()
  const gone = all.filter((change) => change.type === 'DELETED')
  expect(gone.map((change) => change.uid).toSorted()).toEqual(
    Array.from({ length: 11 }, (_, index) => `uid-cm-${index + 1}`).toSorted(),
  )
  const names = all.filter(({ key }) => key.name === 'cm-1').map((change) => `${change.type} ${change.uid}`)
  expect(names).toEqual(['ADDED uid-cm-1', 'DELETED uid-cm-1', 'ADDED uid-new'])
  const marker = all.findLastIndex((change) => change.type === 'SYNCED')
  expect(marker).toBe(all.length - 1)
  // What is listed unchanged is in the log already.
  expect(all.filter(({ key }) => key.name === 'cm-0')).toHaveLength(1)
})

test('an API that refuses us is told as such and keeps nobody from being ready', async () => {
  cluster.identity = statusReply(401)
  const { role, context } = await fixture.watcher()
  await expect
    .poll(() => role.statuses().filter(({ state }) => state === 'unauthorized').length)
    .toBe(watchedVirtual(defaultTenantConfig()).length)
  await expect.poll(() => role.notReady(), { timeout: 15_000 }).toEqual([])
  const statuses = await openKv(context.bus, { bucket: 'causeway-status' })
  await expect
    .poll(async () => (await statuses.get('tenant.team-f'))?.value)
    .toMatchObject({ state: 'unauthorized', message: expect.stringContaining('401') })
  expect((await statuses.get('host'))?.value).toMatchObject({ state: 'synced' })
})

test('while the log is away changes coalesce, and none is lost', async () => {
  cluster.listed = []
  const lines = Array.from({ length: 3_000 }, (_, index) =>
    eventLine('MODIFIED', {
      ...configmap(`hot-${index % 10}`),
      metadata: { ...configmap(`hot-${index % 10}`).metadata, resourceVersion: String(100 + index) },
    }),
  )
  const go = Promise.withResolvers<void>()
  cluster.watch = (response, request) => {
    cluster.watch = hold
    void go.promise.then(() => streamReply([lines.join('')], 'hold')(response, request))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    response.writeHead = (() => response) as typeof response.writeHead
  }
  const { role, context } = await fixture.watcher()
  await expect.poll(() => role.notReady(), { timeout: 15_000 }).toEqual([])
  await expect.poll(() => count('SYNCED')).toBe(1)
  await fixture.nats.kill()
  go.resolve()
  const taken = /causeway_watcher_events_total\{.*resource="configmaps",type="MODIFIED"\} (\d+)/
  await expect.poll(async () => Number(taken.exec(await context.metrics.metrics())?.[1])).toBe(lines.length)
  await fixture.nats.restart()
  const last = async () =>
    Object.fromEntries((await changes()).map((change) => [change.key.name, change.resourceVersion]))
  await expect
    .poll(last, { timeout: 20_000, interval: 500 })
    .toMatchObject(
      Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`hot-${index}`, String(3_090 + index)])),
    )
  expect((await changes()).length).toBeLessThan(600)
})

test('what a watch has lost is found by a list, read by name and published; at rest nothing is', async () => {
  const { context } = await fixture.watcher('w1', { verifyEveryMs: 500 })
  const typesOf = async (name: string): Promise<string[]> =>
    (await changes()).filter(({ key }) => key.name === name).map(({ type }) => type)
  const sum = async (name: string): Promise<number> => {
    const lines = (await context.metrics.metrics()).matchAll(
      new RegExp(`^${name}\\{.*resource="configmaps".*\\} (\\d+)$`, 'gm'),
    )
    return [...lines].reduce((total, [, count]) => total + Number(count), 0)
  }
  await expect.poll(() => typesOf('cm-0'), { timeout: 20_000 }).toEqual(['ADDED'])
  const verifications = () => sum('causeway_watcher_verifications_total')
  await expect.poll(verifications, { timeout: 20_000 }).toBeGreaterThanOrEqual(2)
  expect(await sum('causeway_watcher_found_total')).toBe(0)

  const [, second, ...others] = cluster.listed
  const changed = { ...second, metadata: { ...second?.metadata, resourceVersion: '8' } }
  const missed = configmap('cm-missed')
  for (const object of [changed, missed]) cluster.readable.set(object.metadata.name ?? '', object)
  cluster.listed = [changed, missed, ...others]
  await expect.poll(() => typesOf('cm-0'), { timeout: 20_000 }).toEqual(['ADDED', 'DELETED'])
  await expect.poll(() => typesOf('cm-1'), { timeout: 20_000 }).toEqual(['ADDED', 'MODIFIED'])
  await expect.poll(() => typesOf('cm-missed'), { timeout: 20_000 }).toEqual(['ADDED'])
  const before = await verifications()
  await expect.poll(verifications, { timeout: 20_000 }).toBeGreaterThanOrEqual(before + 2)
  expect(await sum('causeway_watcher_found_total')).toBe(3)
})

test('an operator’s order finds what a watch has lost, of the tenant that is named', async () => {
  const { role } = await fixture.watcher()
  await expect
    .poll(() => role.statuses().find(({ resource }) => resource === 'configmaps')?.state, { timeout: 20_000 })
    .toBe('synced')
  const missed = configmap('cm-missed')
  cluster.readable.set('cm-missed', missed)
  cluster.listed = [...cluster.listed, missed]
  const ask = (tenant: string) =>
    giveOrder<'verify'>(fixture.bus, {
      partition: partitionOf('team-f', 2),
      order: { kind: 'verify', tenant, at: 1 },
      replicas: 1,
      clock: systemClock,
      signal: new AbortController().signal,
    })
  expect(await ask('nobody')).toMatchObject({ lists: 0, missed: 0, gone: 0 })
  const found = await ask('team-f')
  expect(found).toMatchObject({ missed: 1, gone: 0, isDone: true })
  expect(found.lists).toBeGreaterThan(0)
  expect((await changes()).filter(({ key }) => key.name === 'cm-missed').map(({ type }) => type)).toEqual(['ADDED'])
  expect(await ask('team-f')).toMatchObject({ missed: 0, gone: 0 })
})

test('what is odd in a line of a watch goes into the log readable; a line that is no event stops its kind alone, as long as it comes', async () => {
  cluster.listed = []
  const odd = { ...configmap('odd'), data: { a: 'ok' }, 'x-unknown': { deep: [1, { 'of-which': null }] } }
  const bad = Buffer.from(eventLine('ADDED', { ...configmap('bad'), data: { a: 'x~y' } }))
  bad[bad.indexOf('~')] = 0xff
  const corrupt = streamReply(['{"type":"ADDED","object":{"metadata":17}}\n'], 'hold')
  const lines = [eventLine('ADDED', odd), bad, eventLine('ADDED', configmap('next'))]
  const rest: Reply[] = [streamReply(lines, 'end'), corrupt]
  let isRight = false
  cluster.watch = (response, request) => {
    const reply = rest.shift() ?? (isRight ? streamReply([eventLine('ADDED', configmap('last'))], 'hold') : corrupt)
    reply(response, request)
  }
  const { role } = await fixture.watcher()
  const named = async (name: string) =>
    (await changes()).find(({ key, type }) => key.name === name && type === 'ADDED')?.text
  await expect.poll(() => named('next'), { timeout: 15_000 }).toBeDefined()
  expect(JSON.parse((await named('odd')) ?? '')).toEqual({ type: 'ADDED', object: odd })
  expect(JSON.parse((await named('bad')) ?? '')).toMatchObject({ object: { data: { a: 'x\uFFFDy' } } })
  const failing = () =>
    role.statuses().flatMap(({ tenant, resource, message }) => (message === '' ? [] : [{ tenant, resource, message }]))
  await expect
    .poll(failing, { timeout: 15_000 })
    .toEqual([{ tenant: 'team-f', resource: 'configmaps', message: expect.stringContaining('corrupt line of') }])
  isRight = true
  await expect.poll(() => named('last'), { timeout: 30_000 }).toBeDefined()
  await expect.poll(failing, { timeout: 15_000 }).toEqual([])
})
