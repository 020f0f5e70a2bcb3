import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Bus, type Publisher, connectBus, createPublisher, openKv } from '#libs/bus'
import { type TestNats, startTestNats } from '#libs/bus/testing'
import {
  type ChangeType,
  type LoggedIntent,
  MARKER_NAME,
  STREAMS,
  decodeIntent,
  encodeChange,
  encodeOutcome,
  encodePayload,
  partitionOf,
} from '#libs/events'
import { systemClock } from '#libs/kernel'
import type { KubeObject, ObjectKey, ObjectRef } from '#libs/kube-model'
import {
  type Order,
  giveOrder,
  openDroppedWrites,
  openOrders,
  openRoleContext,
  openTenantRegistry,
} from '#libs/runtime'
import { createLogger } from '#libs/telemetry'
import { startTranslator } from '../../services/translator/role.ts'

/* Operators' orders, given to a translator that starts and stops; the test is watcher and writer. */

const logger = createLogger({ service: 'test', level: process.env['TEST_LOG'] ?? 'silent' })
const PARTITIONS = 2
const TENANT = 'team-a'
const PARTITION = partitionOf(TENANT, PARTITIONS)
const api: ObjectRef = { resource: 'services', namespace: 'default', name: 'api' }
const key: ObjectKey = { tenant: TENANT, side: 'virtual', ...api }

let folder: string
let nats: TestNats
let bus: Bus
let publisher: Publisher
let stop: (() => Promise<void>) | undefined
let version = 1

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-orders-'))
  nats = await startTestNats()
  bus = await connectBus({ servers: nats.url, name: 'test' })
  publisher = createPublisher(bus)
  const registry = await openTenantRegistry(bus, 1)
  await registry.setHost({ kubeconfig: join(folder, 'host.yaml') })
  await registry.put({ name: TENANT, uid: 'r1', hostNamespace: 'causeway-a', kubeconfig: join(folder, 'a.yaml') })
  await start()
})

afterAll(async () => {
  await stop?.()
  publisher.close()
  await bus.close()
  await nats.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function start(): Promise<void> {
  const stopping = new AbortController()
  const config = {
    natsUrl: nats.url,
    partitions: PARTITIONS,
    replicas: 1,
    dataDir: join(folder, 'services'),
    keyRingFile: join(folder, 'keys.json'),
    instance: 'one',
    leaseTtlMs: 1_000,
    http: { host: '127.0.0.1', port: 0 },
    log: { level: 'silent' },
  }
  const context = await openRoleContext(config, { name: 'one', logger, signal: stopping.signal })
  const role = await startTranslator(context)
  role.done.catch(() => undefined)
  stop = async () => {
    stop = undefined
    await role.close()
    await context.close()
  }
}

async function publish(type: ChangeType, of: ObjectKey, object: KubeObject): Promise<void> {
  const { uid = 'cluster', resourceVersion = String(++version) } = object.metadata
  const about = { kind: object.kind ?? 'Any', uid, resourceVersion, epoch: 1, observedAt: systemClock.now() }
  await publisher.publish(
    encodeChange({ type, key: of, ...about }, { partition: PARTITION, payload: encodePayload({ type, object }) }),
  )
}

async function intents(): Promise<LoggedIntent[]> {
  const { state } = await bus.manager.streams.info(STREAMS.intents)
  const found: LoggedIntent[] = []
  for (let seq = 1; seq <= state.last_seq; seq++) {
    const message = await bus.manager.streams.getMessage(STREAMS.intents, { seq })
    if (message === null) continue
    const headers: Record<string, string> = {}
    for (const [name, values] of message.header) headers[name] = values[0] ?? ''
    const intent = decodeIntent({ subject: message.subject, headers, payload: message.data, seq, storedAt: 0 })
    if (intent.write.op !== 'announce') found.push(intent)
  }
  return found
}

async function refuse(intent: LoggedIntent): Promise<void> {
  const { id: intentId, target, source, write, causeSeq, fence, attempt } = intent
  const now = systemClock.now()
  const stages = { observedAt: now, loggedAt: now, decidedAt: now, intentAt: now, startedAt: now, finishedAt: now }
  const outcome = { intentId, target, source, op: write.op, causeSeq, fence, attempt, stages } as const
  const answer = { result: 'parked', reason: 'QuotaExceeded', message: 'exceeded quota' } as const
  await publisher.publish(encodeOutcome({ ...outcome, ...answer }, PARTITION))
}

const give = <K extends Order['kind']>(order: Extract<Order, { kind: K }>, patienceMs = 30_000) =>
  giveOrder<K>(bus, {
    partition: PARTITION,
    order,
    replicas: 1,
    clock: systemClock,
    patienceMs,
    signal: AbortSignal.timeout(60_000),
  })
const now = () => systemClock.now()
const left = async (): Promise<string[]> =>
  (await (await openKv(bus, { bucket: 'causeway-orders', ttlMs: 3_600_000 })).list()).map(({ key: each }) => each)
const patrol = () => give({ kind: 'patrol', tenant: TENANT, at: now() })

test('what is dropped is tried no more, over a restart and a loss of all state, until a retry is ordered', async () => {
  await publish('SYNCED', { ...key, namespace: '', name: MARKER_NAME }, { metadata: {} })
  await publish('SYNCED', { ...key, side: 'host', namespace: '', name: MARKER_NAME }, { metadata: {} })
  const spec = { ports: [{ port: 80 }], selector: { app: 'api' } }
  await publish('ADDED', key, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'api', namespace: 'default', uid: 'v1', resourceVersion: '2' },
    spec,
  })
  await expect.poll(async () => (await intents()).length, { timeout: 20_000 }).toBe(1)
  const [create] = await intents()
  if (create === undefined) throw new Error('nothing was asked for')
  await refuse(create)
  // The answer is taken in by the time something is there to be dropped.
  const drop = () => give({ kind: 'drop', tenant: TENANT, object: api, by: 'ann', at: now() })
  await expect.poll(drop, { timeout: 20_000 }).toMatchObject({ dropped: 1, judged: 0, isDone: true })
  const asked = (await intents()).length
  await stop?.()
  await start()
  expect(await patrol()).toMatchObject({ looked: 1, repaired: {} })
  await stop?.()
  rmSync(join(folder, 'services'), { recursive: true })
  await start()
  expect(await patrol()).toMatchObject({ looked: 1, repaired: {} })
  expect(await intents()).toHaveLength(asked)
  expect(await give({ kind: 'retry', tenant: TENANT, object: api, at: now() })).toMatchObject({ tried: 1 })
  await expect.poll(async () => (await intents()).length, { timeout: 20_000 }).toBe(asked + 1)
  expect(await (await openDroppedWrites(bus, 1)).list()).toEqual([])
  expect(await left()).toEqual([])
})

test('an order that was placed while no translator was there is carried out by the next', async () => {
  await stop?.()
  const orders = await openOrders(bus, 1)
  const id = await orders.place(PARTITION, { kind: 'patrol', at: now() })
  await start()
  const answers = []
  for await (const answer of orders.answers(id)) answers.push(answer)
  expect(answers.at(-1)).toMatchObject({ kind: 'patrol', looked: 1, isDone: true })
})

test('what nobody can carry out is taken off', async () => {
  const orders = await openOrders(bus, 1)
  await orders.place(PARTITION, { kind: 'retry', tenant: 'of-another-partition-1', at: now() })
  await orders.place(PARTITION, { kind: 'sing' } as unknown as Order)
  await expect.poll(left, { timeout: 20_000 }).toEqual([])
})

test('without a translator an order says so after a while, and is taken back', async () => {
  await stop?.()
  await expect(give({ kind: 'patrol', at: now() }, 300)).rejects.toMatchObject({ code: 'NoOwner' })
  expect(await left()).toEqual([])
})
