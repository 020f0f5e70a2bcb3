import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { type Bus, connectBus, createPublisher, ensureStreams, openKv, sequenceSince } from '#libs/bus'
import { startTestNats } from '#libs/bus/testing'
import { parsePipelineConfig } from '#libs/config'
import {
  type Change,
  type Intent,
  type Outcome,
  STREAMS,
  encodeChange,
  encodeIntent,
  encodeOutcome,
  encodePayload,
  partitionOf,
  streamDeclarations,
} from '#libs/events'
import { systemClock } from '#libs/kernel'
import type { ObjectKey } from '#libs/kube-model'
import {
  type TenantDirectory,
  openOrders,
  openTenantDirectory,
  openTenantRegistry,
  openWaitingReports,
  waitingKey,
} from '#libs/runtime'
import { createLogger, createRegistry } from '#libs/telemetry'
import { hostRefOf } from '#libs/translation'
import { createVault, loadOrCreateKeyRing } from '#libs/vault'
import { type ConsoleRole, startConsole } from '../../services/console/role.ts'
import * as views from '../../services/console/views.ts'

/* The console's API over a real log with recorded messages, and no cluster at all. */

const TENANT = 'team-a'
const TOKEN = 'a-token-of-an-operator'
const PARTITIONS = 8
const partition = partitionOf(TENANT, PARTITIONS)
const POD: ObjectKey = { tenant: TENANT, side: 'virtual', resource: 'pods', namespace: 'default', name: 'web' }
const SECRET: ObjectKey = { ...POD, resource: 'secrets', name: 'login' }

let folder: string
let nats: Awaited<ReturnType<typeof startTestNats>>
let bus: Bus
let directory: TenantDirectory
const metrics = createRegistry()
let role: ConsoleRole
const stopping = new AbortController()

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-console-'))
  nats = await startTestNats()
  bus = await connectBus({ servers: nats.url, name: 'test' })
  await ensureStreams(bus, streamDeclarations())
  const registry = await openTenantRegistry(bus, 1)
  await registry.setHost({ kubeconfig: join(folder, 'host.yaml') })
  for (const name of [TENANT, 'team-b', 'other']) {
    const kubeconfig = join(folder, `${name}.yaml`)
    await registry.put({ name, uid: `u-${name}`, hostNamespace: `causeway-${name}`, kubeconfig })
  }
  const vault = createVault(loadOrCreateKeyRing(join(folder, 'keys.json')))
  await record(vault)
  const logger = createLogger({ service: 'test', level: 'silent' })
  directory = await openTenantDirectory({ bus, replicas: 1, clock: systemClock, logger, signal: stopping.signal })
  const config = { ...parsePipelineConfig({}), partitions: PARTITIONS }
  const context = { bus, config, clock: systemClock, logger, vault, directory, metrics }
  role = await startConsole(context, { host: '127.0.0.1', port: 0, operatorToken: TOKEN })
})

afterAll(async () => {
  await role.close()
  stopping.abort()
  await directory.close()
  await bus.close()
  await nats.stop()
  rmSync(folder, { recursive: true })
})

/** A pod that crossed, a Secret, a pod that is gone, one that waits. */
async function record(vault: ReturnType<typeof createVault>): Promise<void> {
  const publisher = createPublisher(bus)
  let made = 0
  const change = async (key: ObjectKey, type: Change['type'], fields: Record<string, unknown>): Promise<number> => {
    made += 1
    const of = { uid: `${key.side}-${key.name}`, resourceVersion: String(made) }
    const kind = key.resource === 'secrets' ? 'Secret' : 'Pod'
    const object = { apiVersion: 'v1', kind, metadata: { name: key.name, namespace: key.namespace, ...of }, ...fields }
    const full: Change = { ...of, type, key, kind, epoch: 1, observedAt: Date.now() }
    const payload = encodePayload({ type, object })
    return (await publisher.publish(encodeChange(full, { partition: key.tenant === '' ? 'all' : partition, payload })))
      .seq
  }
  const host: ObjectKey = {
    ...hostRefOf(POD, { name: TENANT, hostNamespace: `causeway-${TENANT}` } as never),
    tenant: TENANT,
    side: 'host',
  }
  await change({ tenant: '', side: 'host', resource: 'nodes', namespace: '', name: 'node-1' }, 'ADDED', {})
  const causeSeq = await change(POD, 'ADDED', { spec: { nodeName: '' } })
  const now = Date.now()
  const common = {
    target: host,
    source: { resource: 'pods', namespace: 'default', name: 'web' },
    causeSeq,
    fence: 1,
    attempt: 0,
  }
  const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: host.name } }
  const intent: Intent = {
    ...common,
    id: `${TENANT}/host/pods/n/web/create/d/1/0`,
    write: { op: 'create', body },
    needs: [],
    observedAt: now - 30,
    loggedAt: now - 25,
    decidedAt: now - 20,
    rule: 'create',
  }
  await publisher.publish(encodeIntent(intent, partition))
  const stages = {
    observedAt: now - 30,
    loggedAt: now - 25,
    decidedAt: now - 20,
    intentAt: now - 15,
    startedAt: now - 10,
    finishedAt: now,
  }
  const outcome: Outcome = {
    ...common,
    intentId: intent.id,
    op: 'create',
    result: 'done',
    uid: 'h1',
    resourceVersion: '9',
    stages,
  }
  await publisher.publish(encodeOutcome(outcome, partition))
  await change(host, 'ADDED', { spec: { nodeName: 'node-1' } })
  const sealed = vault.sealFields(SECRET, { data: { password: 'aHVudGVyMg==' } })
  await change(SECRET, 'ADDED', sealed)
  const gone = { ...POD, name: 'gone' }
  await change(gone, 'ADDED', {})
  await change(gone, 'DELETED', {})
  const waiting = await openWaitingReports(bus, 1)
  const objects = [1, 2, 3].map((index) => ({
    resource: 'pods',
    namespace: 'default',
    name: `w${index}`,
    reason: 'QuotaExceeded',
    since: now,
  }))
  await waiting.put(waitingKey(TENANT), { counts: { QuotaExceeded: 3 }, objects })
  const status = await openKv(bus, { bucket: 'causeway-status' })
  await status.put(`tenant.${TENANT}`, { state: 'synced', message: '', since: new Date().toISOString() })
  publisher.close()
}

const fetchPath = (path: string, init: RequestInit = {}): Promise<Response> => fetch(role.url + path, init)

/** An answer, held to its schema. */
async function asked<T extends z.ZodType>(path: string, schema: T): Promise<z.infer<T>> {
  const response = await fetchPath(`/api/v1${path}`)
  const body: unknown = await response.json()
  expect(response.status, `${path}: ${JSON.stringify(body)}`).toBe(200)
  return schema.parse(body)
}

const object = `/tenants/${TENANT}/objects/pods/default/web`

test('the fleet is told with the syncs of the last hour, once they are read', async () => {
  await expect
    .poll(() => asked('/fleet', views.fleet), { timeout: 20_000 })
    .toMatchObject({ latency: { isComplete: true }, tenants: { total: 3, waiting: 1 }, waiting: { QuotaExceeded: 3 } })
  const { latency, partitions } = await asked('/fleet', views.fleet)
  expect(latency.hour.find(({ stage }) => stage === 'total')).toMatchObject({ count: 1 })
  expect(latency.slowest).toMatchObject([{ tenant: TENANT, resource: 'pods', name: 'web' }])
  expect(partitions).toHaveLength(PARTITIONS)
  expect(partitions.find((each) => each.partition === partition)?.translator.behind).toBeGreaterThan(0)
})

test('tenants are searched, ordered and paged by the server', async () => {
  const names = async (query: string): Promise<string[]> =>
    (await asked(`/tenants${query}`, views.tenantPage)).items.map(({ name }) => name)
  expect(await names('')).toEqual(['other', 'team-a', 'team-b'])
  expect(await names('?search=team&order=waiting')).toEqual(['team-a', 'team-b'])
  expect(await names('?offset=1&limit=1')).toEqual(['team-a'])
  expect(await names('?state=synced')).toEqual(['team-a'])
  expect(await asked(`/tenants/${TENANT}`, views.tenantView)).toMatchObject({
    state: 'synced',
    counts: { QuotaExceeded: 3 },
  })
})

test('objects are found by a part of the name, within a tenant and over all', async () => {
  const within = await asked(`/tenants/${TENANT}/objects?search=we`, views.foundPage)
  expect(within.items.map(({ side, name }) => `${side} ${name.split('-')[0]}`)).toEqual(['virtual web', 'host web'])
  const over = await asked('/objects?search=gone', views.foundPage)
  expect(over).toMatchObject({ total: 1, items: [{ tenant: TENANT, name: 'gone', isDeleted: true }] })
  expect(await asked('/objects?search=we', views.foundPage)).toMatchObject({ total: 2, isCut: false })
  const second = await asked('/objects?search=we&offset=1&limit=1', views.foundPage)
  expect(second).toMatchObject({ total: 2, items: [{ tenant: TENANT, side: 'host' }] })
  expect((await asked('/objects?search=no-such', views.foundPage)).total).toBe(0)
})

test('a story tells changes, intents and outcomes, and its trace', async () => {
  const { entries } = await asked(`${object}/story`, views.story)
  expect(entries.map(({ kind }) => kind)).toEqual(['change', 'intent', 'outcome', 'change'])
  const { traces } = await asked(`${object}/trace`, views.trace)
  expect(traces.flatMap(({ bars }) => bars.map(({ service }) => service))).toEqual(
    expect.arrayContaining(['watcher', 'translator', 'writer']),
  )
})

test('both sides are shown as of any time', async () => {
  const now = await asked(`${object}/sides`, views.sides)
  expect(now.host.yaml).toContain('nodeName: node-1')
  const { entries } = await asked(`${object}/story`, views.story)
  const before = await asked(`${object}/sides?at=${Math.floor(entries[0]?.at ?? 0) - 1}`, views.sides)
  expect([before.virtual.yaml, before.host.yaml]).toEqual([undefined, undefined])
})

test('of Secrets nothing is shown but lengths and fingerprints', async () => {
  const path = `/tenants/${TENANT}/objects/secrets/default/login`
  const { virtual } = await asked(`${path}/sides`, views.sides)
  expect(virtual.yaml).toMatch(/password: <7 bytes, [0-9a-f]{12}>/)
  for (const part of ['story', 'sides', 'trace', 'why'])
    expect(await (await fetchPath(`/api/v1${path}/${part}`)).text()).not.toMatch(/hunter2|aHVudGVyMg/)
})

test('why is answered although no API can be reached, and says so', async () => {
  const { verdict } = await asked(`${object}/why`, views.explanation)
  expect(verdict.isInSync).not.toBe(true)
  const { owner } = await asked(`/host-objects/pods/causeway-${TENANT}/nobodys`, views.hostExplanation)
  expect(owner).toBeUndefined()
})

test('objects as of a time are replayed from the log', async () => {
  const now = await asked(`/tenants/${TENANT}/as-of?at=${Date.now()}`, views.asOfPage)
  expect(now.items.map(({ side, resource }) => `${side} ${resource}`)).toEqual([
    'virtual pods',
    'virtual secrets',
    'host pods',
  ])
  const host = await asked(`/tenants/${TENANT}/as-of?side=host&at=${Date.now()}`, views.asOfPage)
  expect(host.items.map(({ tenant, resource }) => `${tenant} ${resource}`)).toEqual([' nodes', `${TENANT} pods`])
  const before = await asked(`/tenants/${TENANT}/as-of?at=${Date.now() - 3_600_000}`, views.asOfPage)
  expect(before.total).toBe(0)
})

test('what waits is paged over tenants, with what to do', async () => {
  const first = await asked('/waiting?limit=2', views.waitingPage)
  expect(first.items.map(({ name }) => name)).toEqual(['w1', 'w2'])
  expect(first.items[0]?.remedy).toContain('quota')
  const second = await asked(`/waiting?limit=2&after=${first.next}`, views.waitingPage)
  expect(second.items.map(({ name }) => name)).toEqual(['w3'])
  expect(second.next).toBeUndefined()
})

test('listeners are told at once and again', async () => {
  const closing = new AbortController()
  const response = await fetchPath('/api/v1/live', { signal: closing.signal })
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk as Uint8Array).toString()
    if (text.split('event: fleet').length > 2) break
  }
  closing.abort()
  const data = /data: (.*)/.exec(text)?.[1] ?? ''
  expect(views.fleet.parse(JSON.parse(data)).tenants.total).toBe(3)
})

describe('retry', () => {
  const path = `/api/v1/tenants/${TENANT}/retry?resource=pods&namespace=default&name=w1`

  test.each([
    ['without a token', {}, 401],
    ['with a wrong token', { authorization: 'Bearer wrong' }, 401],
    ['for another site', { authorization: `Bearer ${TOKEN}`, 'sec-fetch-site': 'cross-site' }, 403],
  ])('is refused %s', async (_title, headers, status) => {
    expect((await fetchPath(path, { method: 'POST', headers })).status).toBe(status)
  })

  test('is ordered of the translator for an operator', async () => {
    const orders = await openOrders(bus, 1)
    const translator = new AbortController()
    const answering = (async () => {
      for await (const event of orders.follow(translator.signal)) {
        if (event.type !== 'placed') continue
        expect(event.placed).toMatchObject({
          partition,
          order: { kind: 'retry', tenant: TENANT, object: { name: 'w1' } },
        })
        await orders.answer(event.placed, { kind: 'retry', at: Date.now(), isDone: true, tried: 1 })
        return
      }
    })()
    const response = await fetchPath(path, { method: 'POST', headers: { authorization: `Bearer ${TOKEN}` } })
    expect(await response.json()).toEqual({ tried: 1 })
    await answering
    translator.abort()
  })
})

describe('the description of the API', () => {
  test('names every path that is served, and nothing that it says is missing', async () => {
    const document = (await (await fetchPath('/openapi.json')).json()) as {
      openapi: string
      paths: Record<string, Record<string, { operationId: string; parameters: { name: string; in: string }[] }>>
    }
    expect(document.openapi).toBe('3.1.0')
    const values: Record<string, string> = { tenant: TENANT, resource: 'pods', namespace: 'default', name: 'web' }
    const ids = new Set<string>()
    for (const [path, operations] of Object.entries(document.paths)) {
      const address = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => values[name] ?? '')
      for (const [method, { operationId, parameters }] of Object.entries(operations)) {
        ids.add(operationId)
        const required = parameters.filter(
          (each) => each.in === 'query' && 'required' in each && each.required === true,
        )
        const query = required.map(({ name }) => `${name}=1`).join('&')
        const closing = new AbortController()
        const response = await fetchPath(`${address}?${query}`, {
          method: method.toUpperCase(),
          signal: closing.signal,
        })
        expect([200, 401], `${method} ${path}`).toContain(response.status)
        closing.abort()
      }
    }
    expect(ids.size).toBe(Object.values(document.paths).flatMap((operations) => Object.keys(operations)).length)
  })

  test.each([
    ['/api/v1/nothing', 404],
    ['/api/v1/tenants/nobody', 404],
    ['/api/v1/tenants?limit=1000', 400],
    ['/api/v1/tenants?colour=red', 400],
    [`/api/v1/tenants/${TENANT}/objects/nothings/default/x/story`, 404],
    [`/api/v1/tenants/${TENANT}/as-of`, 400],
  ])('what it does not have is refused: %s', async (path, status) => {
    const response = await fetchPath(path)
    expect(response.status).toBe(status)
    expect(await response.json()).toEqual({ code: expect.any(String), message: expect.any(String) })
  })
})

test('where a stream begins at a time is known without reading it', async () => {
  expect(await sequenceSince(bus, STREAMS.outcomes, Date.now() - 3_600_000)).toBe(1)
  expect(await sequenceSince(bus, STREAMS.outcomes, Date.now() + 3_600_000)).toBe(2)
})

test('what was asked is counted by operation, and by whether it was answered', async () => {
  await asked('/fleet', views.fleet)
  await fetchPath('/api/v1/tenants/nobody')
  await expect
    .poll(() => metrics.metrics())
    .toMatch(/request_seconds_count\{op="getTenantsTenant",result="4xx"\} [1-9]/)
  expect(await metrics.metrics()).toMatch(/causeway_console_request_seconds_count\{op="getFleet",result="2xx"\} [1-9]/)
})
