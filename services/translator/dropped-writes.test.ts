import { Registry } from 'prom-client'
import { beforeEach, expect, test } from 'vitest'
import type { Intent, LoggedOutcome } from '#libs/events'
import { createManualClock } from '#libs/kube/testing'
import type { ObjectKey } from '#libs/kube-model'
import { type DecisionKey, Projection } from '#libs/projection'
import { LogOfChanges } from '#libs/projection/testing'
import type { DroppedWrites } from '#libs/runtime'
import { createLogger } from '#libs/telemetry'
import { hostRefOf } from '#libs/translation'
import { TENANT, objectOf } from '#libs/translation/testing'
import { createVault } from '#libs/vault'
import { DroppedMarks } from './dropped-marks.ts'
import { DroppedWritesKeeper } from './dropped-writes.ts'
import { KeyDecider } from './key-decider.ts'
import { createTranslatorMetrics } from './metrics.ts'

const logger = createLogger({ service: 'test', level: 'silent' })
const vault = createVault({ active: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) })
const web: DecisionKey = { tenant: TENANT.name, ref: { resource: 'services', namespace: 'default', name: 'web' } }
const LONG = 3_600_000

/** A bucket as it is stored. */
let stored: Map<string, DroppedWrites>
let log: LogOfChanges
let clock: ReturnType<typeof createManualClock>
let at: Awaited<ReturnType<typeof translator>>

beforeEach(async () => {
  stored = new Map()
  log = new LogOfChanges()
  clock = createManualClock()
  at = await translator()
})

/** What has the partition: its projection, what decides, and the marks as its owner read them. */
async function translator() {
  const projection = new Projection({
    path: ':memory:',
    vault,
    hostNamespaceOf: () => TENANT.hostNamespace,
    contextOf: () => TENANT,
  })
  projection.bindTenant(TENANT.name, 't1')
  const kv = {
    list: () => Promise.resolve([...stored].map(([key, value]) => ({ key, value, revision: 1 }))),
    put: (key: string, value: DroppedWrites) => Promise.resolve(stored.set(key, value).size),
    delete: (key: string) => Promise.resolve(stored.delete(key)),
  }
  const marks = await DroppedMarks.read(kv, logger)
  const keeper = new DroppedWritesKeeper(projection, marks)
  const decider = new KeyDecider({
    fence: 1,
    projection,
    vault,
    clock,
    random: () => 0.5,
    logger,
    metrics: createTranslatorMetrics(new Registry()),
    guard: { admit: (_tenant, _key, decision) => decision, settled: () => [] },
    tenant: () => TENANT,
    dropped: keeper,
  })
  return { projection, decider, keeper, marks }
}

const cause = () => ({ seq: log.seq, observedAt: 1, loggedAt: 2 })
const decide = (): Intent[] => at.decider.decide(web, cause()).filter(({ write }) => write.op !== 'announce')

function service(port: number): void {
  const key: ObjectKey = { tenant: TENANT.name, side: 'virtual', ...web.ref }
  const body = { metadata: { uid: 'v-web' }, spec: { ports: [{ port }], selector: { app: 'web' } } }
  at.projection.fold(log.change('MODIFIED', key, objectOf('Service', 'web', body)))
}

function settle(intent: Intent, result: LoggedOutcome['result']): void {
  at.decider.settle(
    {
      intentId: intent.id,
      target: intent.target,
      source: intent.source,
      op: intent.write.op,
      result,
      ...(result === 'parked' ? { reason: 'QuotaExceeded', message: 'exceeded quota' } : {}),
      causeSeq: 1,
      fence: 1,
      attempt: intent.attempt,
      seq: ++log.seq,
      storedAt: 1,
      partition: 0,
      stages: { observedAt: 1, loggedAt: 1, decidedAt: 1, intentAt: 1, startedAt: 1, finishedAt: 1 },
    } as LoggedOutcome,
    cause(),
  )
}

/** Asks for the copy, and has the host refuse it. */
function park(): Intent {
  service(80)
  const [create] = decide()
  if (create === undefined) throw new Error('nothing was asked for')
  settle(create, 'parked')
  decide()
  return create
}

test('what is dropped is not tried again by itself, nor when the cause of others has gone, and still waits', async () => {
  park()
  expect(await at.keeper.drop(web, { at: 5, by: 'ann' })).toEqual({ dropped: 1, judged: 0 })
  clock.advance(LONG)
  at.projection.pending.wake({ tenant: TENANT.name, reason: 'QuotaExceeded' })
  expect(at.projection.pending.due(clock.now(), 10)).toEqual([])
  expect(decide()).toEqual([])
  expect(at.projection.pending.waitingByReason()).toMatchObject([{ reason: 'QuotaExceeded', count: 1 }])
  expect([...stored.values()]).toMatchObject([{ object: web.ref, at: 5, by: 'ann', reason: 'QuotaExceeded' }])
})

test('ordered twice, it is dropped since the first time', async () => {
  park()
  await at.keeper.drop(web, { at: 5 })
  expect(await at.keeper.drop(web, { at: 9 })).toEqual({ dropped: 1, judged: 0 })
  expect([...stored.values()]).toMatchObject([{ at: 5 }])
})

test('a try that is under way when it is dropped is the last', async () => {
  park()
  clock.advance(LONG)
  const [again] = decide()
  await at.keeper.drop(web, { at: 5 })
  if (again === undefined) throw new Error('it was not tried again')
  settle(again, 'parked')
  expect(decide()).toEqual([])
  clock.advance(LONG)
  expect(at.projection.pending.due(clock.now(), 10)).toEqual([])
})

test('a translator that builds its state anew does not try it either', async () => {
  park()
  await at.keeper.drop(web, { at: 5 })
  at = await translator()
  service(80)
  expect(decide()).toEqual([])
  clock.advance(LONG)
  expect(at.projection.pending.due(clock.now(), 10)).toEqual([])
  expect(at.projection.pending.of(web)).toMatchObject([{ state: 'parked', reason: 'QuotaExceeded' }])
})

test('when the object changes it is tried, and is dropped no more', async () => {
  park()
  await at.keeper.drop(web, { at: 5 })
  service(81)
  expect(decide()).toMatchObject([{ write: { op: 'create' }, attempt: 0 }])
  await at.marks.idle()
  expect([...stored]).toEqual([])
})

test('a retry tries it at once, and takes the mark off', async () => {
  park()
  await at.keeper.drop(web, { at: 5 })
  expect(at.keeper.retry({ tenant: TENANT.name, object: web.ref, reason: 'Forbidden' })).toBe(0)
  expect(decide()).toEqual([])
  expect(at.keeper.retry({ tenant: TENANT.name })).toBe(1)
  expect(at.projection.pending.due(clock.now(), 10)).toEqual([web])
  expect(decide()).toMatchObject([{ write: { op: 'create' }, attempt: 1 }])
  await at.marks.idle()
  expect([...stored]).toEqual([])
})

test('a mark that cannot be stored is no answer', async () => {
  park()
  const failing = await DroppedMarks.read(
    {
      list: () => Promise.resolve([]),
      put: () => Promise.reject(new Error('no NATS')),
      delete: () => Promise.resolve(true),
    },
    logger,
  )
  const keeper = new DroppedWritesKeeper(at.projection, failing)
  await expect(keeper.drop(web, { at: 5 })).rejects.toThrow('no NATS')
})

test('what was rejected before any write is dropped as well, until it is rejected for something else', async () => {
  const rejected = (of: string): void => {
    service(80)
    const place = { tenant: TENANT.name, side: 'host', ...hostRefOf(web.ref, TENANT) } as const
    const foreign = objectOf('Service', place.name, { metadata: { uid: of, namespace: place.namespace } })
    at.projection.fold(log.change('MODIFIED', place, foreign))
    expect(decide()).toEqual([])
  }
  rejected('foreign')
  expect(at.projection.pending.waitingByReason()).toMatchObject([{ reason: 'ForeignObject', count: 1 }])
  expect(await at.keeper.drop(web, { at: 5 })).toEqual({ dropped: 1, judged: 0 })
  clock.advance(LONG)
  expect(at.projection.pending.due(clock.now(), 10)).toEqual([])
  expect([...stored.values()]).toMatchObject([{ object: web.ref, reason: 'ForeignObject' }])
  at = await translator()
  rejected('foreign')
  expect(at.marks.get(web)).toBeDefined()
  expect(at.projection.pending.due(clock.now() + LONG, 10)).toEqual([])
  const { namespace, name } = hostRefOf(web.ref, TENANT)
  const place = { tenant: TENANT.name, side: 'host', resource: 'services', namespace, name } as const
  at.projection.fold(
    log.change('DELETED', place, objectOf('Service', name, { metadata: { uid: 'foreign', namespace } })),
  )
  expect(decide()).toMatchObject([{ write: { op: 'create' } }])
  await at.marks.idle()
  expect([...stored]).toEqual([])
})
