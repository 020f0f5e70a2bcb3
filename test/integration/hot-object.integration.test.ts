import { afterEach, beforeEach, expect, test } from 'vitest'
import { lastSequence, openPositions } from '#libs/bus'
import { partitionOf } from '#libs/events'
import type { KubeClient } from '#libs/kube'
import { type KubeObject, RESOURCES } from '#libs/kube-model'
import {
  type FakeApiServer,
  type Reply,
  eventLine,
  jsonReply,
  listReply,
  startFakeApiServer,
  streamReply,
} from '#libs/kube/testing'
import { type WatcherFixture, registerFake, startFixture } from './watcher-fixture.ts'

const PARTITIONS = 2
const [hot, neighbour] = ['team-hot', 'team-a']
const hold = streamReply([], 'hold')

let fixture: WatcherFixture
let fake: FakeApiServer
/** Answer to the next watch of ConfigMaps of the tenant that is hot. */
let watch: Reply
const cleanups: (() => unknown)[] = []

beforeEach(async () => {
  fixture = await startFixture(['host', neighbour], { leaseTtlMs: 10_000 })
  await fixture.registry.setHost({ kubeconfig: fixture.apiserver.kubeconfigFile('host') })
  watch = hold
  fake = await startFakeApiServer()
  const answer: Reply = (response, request) => {
    const url = new URL(request.url ?? '/', 'http://fake')
    if (url.searchParams.has('limit')) return listReply([], { resourceVersion: '1' })(response, request)
    if (!url.searchParams.has('watch'))
      return jsonReply({ metadata: { name: 'kube-system', uid: 'cluster-1' } })(response, request)
    if (!url.pathname.endsWith('/configmaps')) return hold(response, request)
    const reply = watch
    watch = hold
    reply(response, request)
  }
  for (const kind of ['list', 'watch', 'other'] as const)
    fake.script(kind, ...Array.from({ length: 1_000 }, () => answer))
  await registerFake(fixture, hot, fake)
  await fixture.register(neighbour)
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  await fixture.close()
  await fake.close()
})

const configMap = (name: string, n: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: String(10 + n) },
  data: { n: String(n) },
})

/** Sends states of one object, so many per second, and then nothing more. */
function changing(name: string, { count, perSecond }: { count: number; perSecond: number }): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    let sent = 0
    const startedAt = performance.now()
    const timer = setInterval(() => {
      const due = Math.min(count, ((performance.now() - startedAt) * perSecond) / 1_000)
      for (; sent < due; sent++) response.write(eventLine(sent === 0 ? 'ADDED' : 'MODIFIED', configMap(name, sent + 1)))
      if (sent === count) clearInterval(timer)
    }, 10)
    response.on('close', () => clearInterval(timer))
  }
}

/** Tells, as translators do, that all there is in the log is processed. */
async function startTranslators(): Promise<void> {
  const positions = await openPositions<number>(fixture.bus)
  const tell = async (): Promise<void> => {
    const value = await lastSequence(fixture.bus, 'CHANGES')
    for (let partition = 0; partition < PARTITIONS; partition++)
      await positions.store(`translator.CHANGES.${partition}`, { fence: 1, value })
  }
  await tell()
  let telling = Promise.resolve()
  const timer = setInterval(() => {
    telling = telling.then(tell)
  }, 100)
  cleanups.push(() => {
    clearInterval(timer)
    return telling
  })
}

async function published(tenant: string, name: string): Promise<number[]> {
  const changes = await fixture.changes()
  return changes
    .filter(({ key }) => key.tenant === tenant && key.name === name)
    .map(({ text }) => Number((JSON.parse(text) as { object: { data?: { n?: string } } }).object.data?.n))
}

/** Makes a ConfigMap of the neighbour, and waits until it is in the log. */
async function makeOne(client: KubeClient, name: string): Promise<void> {
  const { metadata: _, ...rest } = configMap(name, 1)
  await client.create(RESOURCES.configmaps, { namespace: 'default' }, { ...rest, metadata: { name } })
  await expect.poll(() => published(neighbour, name), { timeout: 15_000 }).toHaveLength(1)
}

test('of an object that changes 500 times a second few states are published, the last among them, and neighbours in between', async () => {
  expect(partitionOf(hot, PARTITIONS)).toBe(partitionOf(neighbour, PARTITIONS))
  await startTranslators()
  const count = 1_500
  watch = changing('busy', { count, perSecond: 500 })
  const client = await fixture.client(neighbour)
  await fixture.watcher()
  await expect.poll(() => published(hot, 'busy'), { timeout: 15_000 }).not.toEqual([])
  let during = 0
  while ((await published(hot, 'busy')).at(-1) !== count) {
    await makeOne(client, `beside-${during}`)
    if ((await published(hot, 'busy')).at(-1) !== count) during++
  }
  const states = await published(hot, 'busy')
  expect(states).toEqual(states.toSorted((a, b) => a - b))
  expect(states.length).toBeLessThan(count / 3)
  expect(during).toBeGreaterThan(2)
})

test('while its translator processes nothing, a tenant has a window of changes in the log, and the newest states follow', async () => {
  const positions = await openPositions<number>(fixture.bus)
  const partition = partitionOf(hot, PARTITIONS)
  await positions.store(`translator.CHANGES.${partition}`, { fence: 1, value: 0 })
  const lines = Array.from({ length: 200 }, (_, n) =>
    eventLine(n === 0 ? 'ADDED' : 'MODIFIED', configMap('busy', n + 1)),
  )
  const others = Array.from({ length: 20 }, (_, n) => eventLine('ADDED', configMap(`quiet-${n}`, 1)))
  watch = streamReply([...lines, ...others], 'hold')
  await fixture.watcher('w1', { tenantWindow: 64 })
  const last = others.length - 1
  await expect.poll(() => published(hot, `quiet-${last}`), { timeout: 15_000 }).toEqual([1])
  expect((await published(hot, 'busy')).length).toBeLessThan(50)
  const value = await lastSequence(fixture.bus, 'CHANGES')
  await positions.store(`translator.CHANGES.${partition}`, { fence: 1, value })
  await expect.poll(async () => (await published(hot, 'busy')).at(-1), { timeout: 15_000 }).toBe(200)
  expect((await published(hot, 'busy')).length).toBeLessThan(50)
})
