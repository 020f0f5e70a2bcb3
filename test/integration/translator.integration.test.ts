import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Bus, type Publisher, connectBus, createPublisher, ensureStreams, readLast } from '#libs/bus'
import { type TestNats, startTestNats } from '#libs/bus/testing'
import {
  type ChangeType,
  type LoggedIntent,
  MARKER_NAME,
  type Outcome,
  STREAMS,
  decodeIntent,
  encodeChange,
  encodeOutcome,
  encodePayload,
  partitionOf,
  streamDeclarations,
} from '#libs/events'
import { type Clock, systemClock } from '#libs/kernel'
import type { KubeObject, ObjectKey, ObjectRef } from '#libs/kube-model'
import { Projection, removeDatabase } from '#libs/projection'
import { createLogger } from '#libs/telemetry'
import { hostName } from '#libs/translation'
import { TENANT, objectOf, podOf } from '#libs/translation/testing'
import { createVault } from '#libs/vault'
import { createTranslatorMetrics } from '../../services/translator/metrics.ts'
import { ProjectionOutdated } from '../../services/translator/fill-projection.ts'
import { PartitionWorker } from '../../services/translator/partition-worker.ts'

const logger = createLogger({ service: 'test', level: process.env['TEST_LOG'] ?? 'silent' })
const vault = createVault({ active: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) })
const TEAM = TENANT.name
const OTHER = 'team-b'
const PARTITIONS = 1
/** Time stands still for it: it waits, decides and publishes, and never finds a commit due. */
const noCommits: Clock = { now: () => 1_700_000_000_000, sleep: (ms, signal) => systemClock.sleep(ms, signal) }

let nats: TestNats
let bus: Bus
let publisher: Publisher
let folder: string
let tenants: Map<string, string>
let registry: Registry
let running: Running | undefined
let version: number

beforeAll(async () => {
  nats = await startTestNats()
  bus = await connectBus({ servers: nats.url, name: 'test' })
  publisher = createPublisher(bus)
})

afterAll(async () => {
  publisher.close()
  await bus.close()
  await nats.stop()
})

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-translator-'))
  tenants = new Map([[TEAM, 't1']])
  registry = new Registry()
  version = 100
  for (const name of Object.values(STREAMS).toReversed()) await bus.manager.streams.delete(name).catch(() => undefined)
  await ensureStreams(bus, streamDeclarations())
})

afterEach(async () => {
  await running?.stop()
  rmSync(folder, { recursive: true })
})

type Running = {
  worker: PartitionWorker
  projection: Projection
  done: Promise<void>
  /** Stops as told to. */
  stop(): Promise<void>
  /** Stops as a crash would: nothing that was not committed is kept. */
  crash(): Promise<void>
}

const file = (): string => join(folder, 'p.sqlite')

function start(options: { clock?: Clock; fence?: number; patrolEveryMs?: number } = {}): Running {
  const stop = new AbortController()
  const context = (name: string) =>
    tenants.has(name) ? { ...TENANT, name, hostNamespace: `tenant-${name}` } : undefined
  const projection = new Projection({ path: file(), vault, hostNamespaceOf: (name) => context(name)?.hostNamespace })
  const worker = new PartitionWorker({
    partition: 0,
    partitions: PARTITIONS,
    fence: options.fence ?? 1,
    bus,
    publisher,
    projection,
    vault,
    clock: options.clock ?? systemClock,
    random: () => 0,
    logger,
    metrics: createTranslatorMetrics(registry),
    tenant: context,
    tenants: () => [...tenants].map(([name, uid]) => ({ name, uid })),
    storePosition: () => Promise.resolve(),
    signal: stop.signal,
    ...(options.patrolEveryMs === undefined ? {} : { patrolEveryMs: options.patrolEveryMs }),
  })
  const done = worker.run()
  done.catch(() => undefined)
  let ended = false
  const end = async (finish: () => void): Promise<void> => {
    if (ended) return
    ended = true
    finish()
    stop.abort(new Error('stopping'))
    await done.catch(() => undefined)
  }
  running = {
    worker,
    projection,
    done,
    stop: async () => {
      await end(() => undefined)
      try {
        projection.close()
      } catch {
        // Closed by the crash.
      }
    },
    crash: () => end(() => projection.abandon()),
  }
  return running
}

const ref = (resource: string, name: string): ObjectRef => ({ resource, namespace: 'default', name })
const virtualKey = (of: ObjectRef, tenant = TEAM): ObjectKey => ({ tenant, side: 'virtual', ...of })
const hostKey = (of: ObjectRef, tenant = TEAM): ObjectKey => ({
  tenant,
  side: 'host',
  resource: of.resource,
  namespace: `tenant-${tenant}`,
  name: hostName(of, tenant),
})

async function publish(type: ChangeType, key: ObjectKey, object: KubeObject): Promise<void> {
  version++
  const change = {
    type,
    key,
    kind: object.kind ?? 'Any',
    uid: object.metadata.uid ?? 'cluster',
    resourceVersion: object.metadata.resourceVersion ?? String(version),
    epoch: 1,
    observedAt: systemClock.now(),
  }
  const partition = key.tenant === '' ? 'all' : partitionOf(key.tenant, PARTITIONS)
  await publisher.publish(encodeChange(change, { partition, payload: encodePayload({ type, object }) }))
}

const synced = (side: 'virtual' | 'host', resource: string, tenant = TEAM): Promise<void> =>
  publish('SYNCED', { tenant, side, resource, namespace: '', name: MARKER_NAME }, { metadata: {} })

async function allSynced(tenant = TEAM): Promise<void> {
  for (const side of ['virtual', 'host'] as const)
    for (const resource of ['pods', 'configmaps', 'secrets', 'services']) await synced(side, resource, tenant)
}

/** Everything in INTENTS, oldest first. */
async function intents(): Promise<LoggedIntent[]> {
  const { state } = await bus.manager.streams.info(STREAMS.intents)
  if (state.messages === 0) return []
  const found: LoggedIntent[] = []
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await bus.manager.streams.getMessage(STREAMS.intents, { seq })
    if (message === null) continue
    const headers: Record<string, string> = {}
    for (const [name, values] of message.header) headers[name] = values[0] ?? ''
    found.push(decodeIntent({ subject: message.subject, headers, payload: message.data, seq, storedAt: 0 }))
  }
  return found
}

const shown = (list: LoggedIntent[]): string[] =>
  list.map(({ target, write }) => `${write.op} ${target.side} ${target.resource} ${target.name}`)

async function expectIntents(count: number): Promise<LoggedIntent[]> {
  await expect.poll(async () => (await intents()).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(count)
  return intents()
}

async function settle(intent: LoggedIntent, outcome: Partial<Outcome>): Promise<void> {
  const { id: intentId, target, source, sourceUid, write, causeSeq, fence, attempt, base } = intent
  const now = systemClock.now()
  const stages = { observedAt: now, loggedAt: now, decidedAt: now, intentAt: now, startedAt: now, finishedAt: now }
  const result = { intentId, target, source, op: write.op, result: 'done', causeSeq, fence, attempt, stages } as const
  const given = { ...(base === undefined ? {} : { base }), ...(sourceUid === undefined ? {} : { sourceUid }) }
  await publisher.publish(encodeOutcome({ ...result, ...given, ...outcome }, 0))
}

/** Does what a create asks for: settles it, and lets the watch show what came of it. */
async function carryOut(intent: LoggedIntent, uid: string): Promise<KubeObject> {
  if (intent.write.op !== 'create') throw new Error(`${intent.write.op} is no create`)
  const resourceVersion = String(++version)
  const { body } = intent.write
  const object = {
    ...body,
    metadata: { ...body.metadata, namespace: intent.target.namespace, uid, resourceVersion },
  }
  await settle(intent, { uid, resourceVersion })
  await publish('ADDED', intent.target, object)
  return object
}

/** Lets everything published so far be taken in: another object's intent comes after all that went before it. */
let fences = 0
async function settled(): Promise<void> {
  const name = `fence-${++fences}`
  const key = virtualKey(ref('services', name))
  const service = objectOf('Service', name, { spec: { ports: [{ port: 80 }] }, metadata: { uid: name } })
  await publish('ADDED', key, service)
  await expect
    .poll(async () => (await intents()).some(({ source }) => source.name === name), { timeout: 10_000 })
    .toBe(true)
}

const withoutFences = (list: LoggedIntent[]): LoggedIntent[] =>
  list.filter(({ source }) => !source.name.startsWith('fence-'))

const web = ref('pods', 'web')
const cfg = ref('configmaps', 'cfg')
const pod = (uid = 'v-web'): KubeObject => podOf('web', { metadata: { uid } })
const podWithConfig = podOf('web', {
  metadata: { uid: 'v-web' },
  spec: { containers: [{ name: 'main', image: 'x', envFrom: [{ configMapRef: { name: 'cfg' } }] }] },
})
const config = objectOf('ConfigMap', 'cfg', { data: { a: '1' }, metadata: { uid: 'v-cfg' } })

describe('translating', () => {
  test('a change becomes an intent, its outcome and echo settle it, and nothing more follows', async () => {
    start()
    await allSynced()
    await publish('ADDED', virtualKey(web), pod())
    const [create] = await expectIntents(1)
    expect(create).toMatchObject({ target: hostKey(web), source: web, rule: 'create', fence: 1, attempt: 0 })
    if (create !== undefined) await carryOut(create, 'h1')
    await settled()
    expect(shown(withoutFences(await intents()))).toEqual([`create host pods ${hostName(web, TEAM)}`])
  })

  test('the echo may come before the outcome', async () => {
    start()
    await publish('ADDED', virtualKey(web), pod())
    const [create] = await expectIntents(1)
    if (create?.write.op !== 'create') throw new Error('no create')
    const { metadata } = create.write.body
    const echo = {
      ...create.write.body,
      metadata: { ...metadata, namespace: `tenant-${TEAM}`, uid: 'h', resourceVersion: '9' },
    }
    await publish('ADDED', create.target, echo)
    await settled()
    await settle(create, { uid: 'h', resourceVersion: '9' })
    await settled()
    expect(withoutFences(await intents())).toHaveLength(1)
  })

  test('tenants are kept apart, and one that is not registered waits until it is', async () => {
    const { worker } = start()
    await publish('ADDED', virtualKey(web), pod())
    await publish('ADDED', virtualKey(web, OTHER), pod('other'))
    await settled()
    expect(withoutFences(await intents()).map(({ target }) => target)).toEqual([hostKey(web)])
    tenants.set(OTHER, 't2')
    worker.takeTenant({ name: OTHER, uid: 't2' })
    await expect.poll(async () => withoutFences(await intents()).length).toBe(2)
    expect((await intents()).at(-1)?.target).toEqual(hostKey(web, OTHER))
    tenants.delete(OTHER)
    worker.forgetTenant(OTHER)
    await publish('DELETED', virtualKey(web, OTHER), pod('other'))
    await settled()
    expect(withoutFences(await intents())).toHaveLength(2)
  })

  test('a poison message is counted and passed over', async () => {
    start()
    const partition = partitionOf(TEAM, PARTITIONS)
    await publisher.publish({
      subject: `change.${partition}.${TEAM}.virtual.pods.default.bad`,
      headers: { 'Causeway-Version': '99' },
      payload: encodePayload({}),
    })
    await publisher.publish({
      subject: `outcome.${partition}.${TEAM}.virtual.pods.default.bad`,
      headers: {},
      payload: encodePayload({}),
    })
    await publish('ADDED', virtualKey(web), pod())
    await expectIntents(1)
    await expect.poll(() => registry.metrics()).toContain('causeway_translator_poison_total{stage="fold"} 2')
  })
})

describe('what a pod needs', () => {
  test('that comes within the time limit goes before it', async () => {
    start()
    await publish('ADDED', virtualKey(web), podWithConfig)
    await settled()
    expect(withoutFences(await intents())).toEqual([])
    await publish('ADDED', virtualKey(cfg), config)
    await expect
      .poll(async () => shown(withoutFences(await intents())))
      .toEqual([`create host configmaps ${hostName(cfg, TEAM)}`, `create host pods ${hostName(web, TEAM)}`])
    const { namespace, name } = hostKey(cfg)
    expect((await intents()).at(-1)?.needs).toEqual([{ side: 'host', resource: 'configmaps', namespace, name }])
  })

  test('that never comes keeps it no longer than that, also over a restart', async () => {
    const first = start()
    await publish('ADDED', virtualKey(web), podWithConfig)
    await settled()
    await first.stop()
    start({ fence: 2 })
    const [create] = withoutFences(await expectIntents(2))
    expect(create).toMatchObject({ target: hostKey(web) })
  })
})

describe('outcomes', () => {
  test('a parked intent is told to the tenant and issued again when it is due; then the tenant is told it is done', async () => {
    start()
    await publish('ADDED', virtualKey(web), pod())
    const [create] = await expectIntents(1)
    if (create === undefined) throw new Error('no create')
    const message = `pods "${hostName(web, TEAM)}" is forbidden in tenant-${TEAM}`
    await settle(create, { result: 'parked', reason: 'QuotaExceeded', message })
    const [, event, again] = await expectIntents(3)
    expect(event?.write).toMatchObject({
      op: 'announce',
      body: {
        reason: 'SyncFailed',
        type: 'Warning',
        message: expect.stringContaining('pods "web" is forbidden in default') as string,
        involvedObject: { kind: 'Pod', name: 'web', uid: 'v-web' },
      },
    })
    expect(again).toMatchObject({ target: hostKey(web), attempt: 1 })
    expect(again?.id).not.toBe(create.id)
    if (again !== undefined) await carryOut(again, 'h1')
    const told = (await expectIntents(4)).at(-1)
    expect(told?.write).toMatchObject({ op: 'announce', body: { reason: 'Synced', type: 'Normal' } })
  })

  test('a conflict is decided again without a word', async () => {
    start()
    await publish('ADDED', virtualKey(web), pod())
    const [create] = await expectIntents(1)
    if (create !== undefined) await settle(create, { result: 'conflict' })
    const [, again] = await expectIntents(2)
    expect(again).toMatchObject({ target: hostKey(web), attempt: 1, rule: 'create' })
  })

  test('of an intent that was overtaken changes nothing', async () => {
    start()
    await publish('ADDED', virtualKey(web), pod())
    const [create] = await expectIntents(1)
    if (create !== undefined) await settle({ ...create, id: 'an older one', fence: 0 }, { result: 'conflict' })
    await settled()
    expect(withoutFences(await intents())).toHaveLength(1)
  })
})

describe('after a crash', () => {
  test('between publish and commit the same intents follow under the same ids, once', async () => {
    const first = start({ clock: noCommits })
    await allSynced()
    await publish('ADDED', virtualKey(cfg), config)
    await publish('ADDED', virtualKey(web), podWithConfig)
    const before = await expectIntents(2)
    await first.crash()
    start({ fence: 2 })
    await settled()
    expect(withoutFences(await intents()).map(({ id }) => id)).toEqual(before.map(({ id }) => id))
  })

  test('outcomes that came meanwhile are taken in', async () => {
    const first = start({ clock: noCommits })
    await publish('ADDED', virtualKey(web), pod())
    const [create] = await expectIntents(1)
    await first.crash()
    if (create !== undefined) await carryOut(create, 'h1')
    start({ fence: 2 })
    await settled()
    expect(withoutFences(await intents())).toHaveLength(1)
  })

  test('an orderly stop leaves everything committed', async () => {
    const first = start()
    await publish('ADDED', virtualKey(web), pod())
    await expectIntents(1)
    await first.stop()
    const projection = new Projection({ path: file(), vault, hostNamespaceOf: () => `tenant-${TEAM}` })
    expect(projection.position(STREAMS.changes)).toBe(1)
    expect(projection.pending.of({ tenant: TEAM, ref: web })).toMatchObject([{ state: 'issued' }])
    projection.close()
  })
})

describe('a copy whose stamps somebody has changed', () => {
  const bare = (copy: KubeObject): KubeObject => {
    const { labels: _labels, annotations: _annotations, ...metadata } = copy.metadata
    return { ...copy, metadata: { ...metadata, resourceVersion: String(++version) } }
  }
  const restamped = {
    target: hostKey(web),
    rule: 'restamped',
    write: {
      op: 'patch',
      uid: 'h1',
      body: {
        metadata: {
          labels: { 'causeway.dev/tenant': TEAM, 'causeway.dev/namespace': 'default' },
          annotations: { 'causeway.dev/name': 'web', 'causeway.dev/uid': 'v-web' },
        },
      },
    },
  }

  async function onePod(): Promise<KubeObject> {
    await allSynced()
    await publish('ADDED', virtualKey(web), pod())
    const [create] = await expectIntents(1)
    if (create === undefined) throw new Error('nothing was created')
    const copy = await carryOut(create, 'h1')
    await settled()
    return copy
  }

  test('gets them back, and then is what it was', async () => {
    start()
    const copy = await onePod()
    const before = (await intents()).length
    await publish('MODIFIED', hostKey(web), bare(copy))
    const [, restamp] = (await expectIntents(before + 1)).slice(before - 1)
    expect(restamp).toMatchObject(restamped)
    const resourceVersion = String(++version)
    if (restamp !== undefined) await settle(restamp, { uid: 'h1', resourceVersion })
    await publish('MODIFIED', hostKey(web), { ...copy, metadata: { ...copy.metadata, resourceVersion } })
    await settled()
    expect(withoutFences((await intents()).slice(before + 1))).toEqual([])
  })

  test('is known by the outcomes where the projection was lost', async () => {
    const first = start()
    const copy = await onePod()
    await first.stop()
    const before = (await intents()).length
    removeDatabase(file())
    await publish('MODIFIED', hostKey(web), bare(copy))
    await publish('DELETED', virtualKey(web), pod())
    start({ fence: 2 })
    const since = async () => withoutFences((await intents()).slice(before))
    await expect.poll(since, { timeout: 10_000 }).toMatchObject([restamped])
  })

  test('takes its end as a pod’s copy does when it is deleted before', async () => {
    start()
    const copy = await onePod()
    const before = (await intents()).length
    const forged = bare(copy)
    await publish('MODIFIED', hostKey(web), forged)
    await publish('DELETED', hostKey(web), { metadata: { name: hostKey(web).name, uid: 'h1' } })
    await settled()
    expect(withoutFences((await intents()).slice(before)).at(-1)).toMatchObject({
      target: virtualKey(web),
      rule: 'hostGone',
      write: { op: 'delete', uid: 'v-web', proof: { kind: 'tombstone' } },
    })
  })

  test('of another uid stays as it is, whatever stamps it has', async () => {
    start()
    const copy = await onePod()
    const before = (await intents()).length
    await publish('DELETED', virtualKey(web), pod())
    const [deletion] = (await expectIntents(before + 1)).slice(before)
    if (deletion !== undefined) await settle(deletion, { uid: 'h1' })
    await publish('DELETED', hostKey(web), copy)
    await publish('ADDED', hostKey(web), { ...bare(copy), metadata: { ...bare(copy).metadata, uid: 'theirs' } })
    const elsewhere = { ...hostKey(web), name: 'theirs' }
    await publish('ADDED', elsewhere, { ...copy, metadata: { ...copy.metadata, name: 'theirs', uid: 'theirs-too' } })
    await settled()
    expect(withoutFences((await intents()).slice(before + 1))).toEqual([])
  })
})

describe('without its file', () => {
  async function twoPodsOnOneSide(): Promise<void> {
    await allSynced()
    await publish('ADDED', virtualKey(web), pod())
    const [create] = await expectIntents(1)
    if (create !== undefined) await carryOut(create, 'h1')
    await settled()
  }

  test('the state is built from STATE: nothing is created twice, nothing deleted', async () => {
    const first = start()
    await twoPodsOnOneSide()
    const before = (await intents()).length
    await first.stop()
    removeDatabase(file())
    start({ fence: 2 })
    await settled()
    expect(shown((await intents()).slice(before)).filter((text) => !text.includes('fence-'))).toEqual([])
  })

  test('what was deleted while nobody looked is still deleted', async () => {
    const first = start()
    await twoPodsOnOneSide()
    await first.stop()
    removeDatabase(file())
    await publish('DELETED', virtualKey(web), pod())
    start({ fence: 2 })
    await settled()
    expect(withoutFences(await intents()).at(-1)).toMatchObject({
      target: hostKey(web),
      write: { op: 'delete', uid: 'h1', proof: { kind: 'tombstone' } },
    })
  })

  test('a history that begins after the last change of the partition is no reason to begin again and again', async () => {
    const first = start()
    await twoPodsOnOneSide()
    await first.stop()
    removeDatabase(file())
    // Others go on, and the history drops what is old, all of this partition among it.
    const elsewhere = { tenant: 'elsewhere', side: 'virtual', resource: 'pods', namespace: 'x', name: 'y' } as const
    for (let index = 0; index < 3; index++) {
      const change = {
        type: 'ADDED',
        key: elsewhere,
        kind: 'Pod',
        uid: `u${index}`,
        resourceVersion: '1',
        epoch: 1,
        observedAt: 1,
      } as const
      await publisher.publish(
        encodeChange(change, { partition: 5, payload: encodePayload({ type: 'ADDED', object: pod() }) }),
      )
    }
    const { state } = await bus.manager.streams.info(STREAMS.changes)
    await bus.manager.streams.purge(STREAMS.changes, { seq: state.last_seq })
    const before = (await intents()).length
    const second = start({ fence: 2 })
    await settled()
    expect(second.worker.caughtUp).toBe(true)
    expect(shown((await intents()).slice(before)).filter((text) => !text.includes('fence-'))).toEqual([])
  })

  test('a file of a log that is no more is built again, however long the new log is', async () => {
    const first = start()
    await twoPodsOnOneSide()
    await first.stop()
    const { state } = await bus.manager.streams.info(STREAMS.changes)
    for (const stream of [STREAMS.state, STREAMS.changes]) await bus.manager.streams.delete(stream)
    await ensureStreams(bus, streamDeclarations({ replicas: 1 }))
    for (let index = 0; index <= state.last_seq; index++) {
      await publish(
        'ADDED',
        virtualKey(ref('pods', `new-${index}`)),
        podOf(`new-${index}`, { metadata: { uid: `n${index}` } }),
      )
    }
    const second = start({ fence: 2 })
    await expect(second.done).rejects.toThrow(ProjectionOutdated)
    await second.stop()
  })

  test('a history that no longer reaches back to the position ends the work, to be built again', async () => {
    const first = start()
    await twoPodsOnOneSide()
    await first.stop()
    await publish('ADDED', virtualKey(ref('pods', 'missed')), podOf('missed', { metadata: { uid: 'm' } }))
    await publish('ADDED', virtualKey(ref('pods', 'kept')), podOf('kept', { metadata: { uid: 'k' } }))
    const { state } = await bus.manager.streams.info(STREAMS.changes)
    // The server copies from one stream to the other in its own time; only what it has copied may be purged.
    await expect
      .poll(async () => (await bus.manager.streams.info(STREAMS.state, { subjects_filter: 'change.>' })).state.subjects)
      .toSatisfy((subjects: Record<string, number> = {}) =>
        ['missed', 'kept'].every((name) => Object.keys(subjects).some((subject) => subject.endsWith(`.${name}`))),
      )
    await bus.manager.streams.purge(STREAMS.changes, { seq: state.last_seq })
    const second = start({ fence: 2 })
    await expect(second.done).rejects.toThrow(ProjectionOutdated)
    await second.stop()
    removeDatabase(file())
    start({ fence: 3 })
    await expect
      .poll(async () =>
        shown(await intents())
          .filter((text) => /missed|kept/.test(text))
          .toSorted(),
      )
      .toEqual(['create host pods kept-x-default-x-team-a', 'create host pods missed-x-default-x-team-a'])
  })
})

test('the patrol finds nothing to do at rest, and drift that no change told of', async () => {
  const { projection } = start({ patrolEveryMs: 200 })
  await allSynced()
  await publish('ADDED', virtualKey(web), pod())
  const [create] = await expectIntents(1)
  if (create !== undefined) await carryOut(create, 'h1')
  await settled()
  const sum = async (name: string, labels = ''): Promise<number> =>
    [...(await registry.metrics()).matchAll(new RegExp(`^${name}${labels} (\\d+)$`, 'gm'))].reduce(
      (total, [, count]) => total + Number(count),
      0,
    )
  const patrols = () => sum('causeway_translator_patrols_total')
  const repairs = () => sum('causeway_translator_repairs_total', '\\{rule="\\w+"\\}')
  const before = await patrols()
  await expect.poll(patrols, { timeout: 10_000 }).toBeGreaterThanOrEqual(before + 2)
  expect(await repairs()).toBe(0)
  // As if the change of a deletion had been folded in and its decision been forgotten.
  projection.objects.put(virtualKey(web), { uid: 'v-web', resourceVersion: '9', seq: 9, goneAt: 1 }, undefined)
  await expect.poll(repairs).toBe(1)
  expect(await sum('causeway_translator_repairs_total', '\\{rule="virtualGone"\\}')).toBe(1)
  // It is counted when it is sent, which is before the log has it.
  const deletion = { target: hostKey(web), write: { op: 'delete', uid: 'h1' } }
  await expect.poll(async () => (await intents()).at(-1)).toMatchObject(deletion)
})

describe('while the log cannot be reached', () => {
  test('the work stops all the same, and goes on from its last commit', async () => {
    const first = start()
    await publish('ADDED', virtualKey(web), pod())
    const [create] = await expectIntents(1)
    if (create !== undefined) await settle(create, { result: 'parked', reason: 'QuotaExceeded' })
    await expectIntents(2)
    await nats.kill()
    // The next try is due: an intent is on its way that nobody takes.
    await expect.poll(() => publisher.unsettled, { timeout: 5_000 }).toBe(1)
    const begun = systemClock.now()
    await first.stop()
    expect(systemClock.now() - begun).toBeLessThan(5_000)
    await nats.restart()
    await expect.poll(() => bus.isConnected(), { timeout: 10_000 }).toBe(true)
    start({ fence: 2 })
    await settled()
    const tries = withoutFences(await intents()).filter(({ write }) => write.op === 'create')
    expect(tries.map(({ attempt }) => attempt)).toEqual([0, 1])
  })
})

test('STATE holds what a projection is built from', async () => {
  await publish('ADDED', virtualKey(web), pod())
  await publish('MODIFIED', virtualKey(web), pod())
  const read = async (): Promise<number> => {
    let count = 0
    for await (const batch of readLast(bus, { stream: STREAMS.state })) count += batch.length
    return count
  }
  await expect.poll(read).toBe(1)
})
