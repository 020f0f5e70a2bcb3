import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Bus, type Publisher, connectBus, createPublisher, ensureStreams } from '#libs/bus'
import { startTestNats } from '#libs/bus/testing'
import {
  type Change,
  type Intent,
  type Outcome,
  encodeChange,
  encodeIntent,
  encodeOutcome,
  encodePayload,
  streamDeclarations,
} from '#libs/events'
import type { KubeObject, ObjectKey } from '#libs/kube-model'
import {
  type RecordOptions,
  type Recorded,
  VIEWS,
  recordFilters,
  recordLog,
  reemit,
  unsettledIntents,
} from '#libs/replay'
import { defaultTenantConfig } from '#libs/sync-config'
import { createVault, loadOrCreateKeyRing } from '#libs/vault'

const PARTITION = 3
const T0 = 1_796_000_000_000

let folder: string
let nats: Awaited<ReturnType<typeof startTestNats>>
let bus: Bus
let publisher: Publisher
let made = 0

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-replay-'))
  nats = await startTestNats()
  bus = await connectBus({ servers: nats.url, name: 'test' })
  await ensureStreams(bus, streamDeclarations())
  publisher = createPublisher(bus)
})
afterEach(async () => {
  publisher.close()
  await bus.close()
  await nats.stop()
  rmSync(folder, { recursive: true })
})

const keyOf = (name: string, of: Partial<ObjectKey> = {}): ObjectKey => ({
  tenant: 'team-a',
  side: 'virtual',
  resource: 'configmaps',
  namespace: 'default',
  name,
  ...of,
})

async function change(
  key: ObjectKey,
  of: Partial<Change> & { object?: Record<string, unknown> } = {},
): Promise<number> {
  made += 1
  const { object: fields = {}, ...rest } = of
  const full: Change = {
    type: 'ADDED',
    key,
    kind: 'ConfigMap',
    uid: `uid-${key.name}`,
    resourceVersion: String(made),
    epoch: 1,
    observedAt: T0 + made,
    ...rest,
  }
  const metadata = { name: key.name, namespace: key.namespace, uid: full.uid, resourceVersion: full.resourceVersion }
  const object = { apiVersion: 'v1', kind: full.kind, metadata, ...fields }
  const payload = encodePayload({ type: full.type, object })
  return (await publisher.publish(encodeChange(full, { partition: PARTITION, payload }))).seq
}

const vaultIn = () => createVault(loadOrCreateKeyRing(join(folder, 'keys.json')))

async function intent(id: string, target: ObjectKey, of: Partial<Intent> = {}): Promise<void> {
  const body: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: target.name } }
  const full: Intent = {
    id,
    target,
    write: { op: 'create', body },
    source: { resource: target.resource, namespace: 'default', name: 'cfg' },
    needs: [],
    causeSeq: 1,
    observedAt: T0,
    loggedAt: T0 + 1,
    decidedAt: T0 + 3,
    rule: 'create',
    fence: 1,
    attempt: 0,
    ...of,
  }
  await publisher.publish(encodeIntent(full, PARTITION))
}

async function outcome(intentId: string, target: ObjectKey, of: Partial<Outcome> = {}): Promise<void> {
  const stages = {
    observedAt: T0,
    loggedAt: T0 + 1,
    decidedAt: T0 + 3,
    intentAt: T0 + 6,
    startedAt: T0 + 10,
    finishedAt: T0 + 30,
  }
  const source = { resource: target.resource, namespace: 'default', name: 'cfg' }
  const full: Outcome = {
    intentId,
    target,
    source,
    op: 'create',
    result: 'done',
    causeSeq: 1,
    fence: 1,
    attempt: 0,
    stages,
    ...of,
  }
  await publisher.publish(encodeOutcome(full, PARTITION))
}

async function replay(
  of: Partial<RecordOptions> = {},
): Promise<{ recorded: Recorded; ask: (query: string) => unknown[] }> {
  made += 1
  const path = join(folder, `replay-${made}.db`)
  const { signal } = new AbortController()
  const recorded = await recordLog({ bus, path, signal, vault: vaultIn(), ...of })
  const database = new Sqlite(of.path ?? path, { readonly: true })
  return { recorded, ask: (query) => database.prepare(query).all() }
}

const copy = keyOf('cfg-x-default-x-team-a', { side: 'host', namespace: 'causeway-team-a' })

describe('the file of a replay', () => {
  test('has a row for each message, and answers what is asked often', async () => {
    await change(keyOf('cfg'), { object: { data: { a: '1' } } })
    await change(keyOf('cfg'), { type: 'MODIFIED', object: { data: { a: '2' } } })
    await change(keyOf('gone'))
    await change(keyOf('gone'), { type: 'DELETED' })
    await intent('i1', copy)
    await outcome('i1', copy, { uid: 'h1' })
    await intent('i2', { ...copy, name: 'other' })
    await outcome(
      'i2',
      { ...copy, name: 'other' },
      { result: 'parked', reason: 'QuotaExceeded', message: 'exceeded quota' },
    )
    const { recorded, ask } = await replay()
    expect(recorded).toEqual({ changes: 4, intents: 2, outcomes: 2, unreadable: 0, isCut: false })
    expect(ask(`SELECT name, json_extract(object, '$.data.a') AS a FROM objects`)).toEqual([{ name: 'cfg', a: '2' }])
    expect(ask('SELECT name FROM deleted')).toEqual([{ name: 'gone' }])
    expect(ask('SELECT watch_ms, translate_ms, log_ms, queue_ms, api_ms, total_ms FROM slowest_syncs')).toEqual([
      { watch_ms: 1, translate_ms: 2, log_ms: 3, queue_ms: 4, api_ms: 20, total_ms: 30 },
    ])
    expect(ask('SELECT name, reason, message FROM waiting')).toEqual([
      { name: 'other', reason: 'QuotaExceeded', message: 'exceeded quota' },
    ])
    expect(ask('SELECT * FROM unanswered')).toEqual([])
    for (const view of Object.keys(VIEWS)) expect(() => ask(`SELECT * FROM ${view}`)).not.toThrow()
  })

  test('tells values that take turns from those that go on', async () => {
    for (const value of ['a', 'b', 'a', 'b', 'a', 'b']) {
      await change(keyOf('swings'), { type: 'MODIFIED', object: { data: { value } } })
    }
    for (const value of ['1', '2', '3', '4', '5', '6']) {
      await change(keyOf('counts'), { type: 'MODIFIED', object: { data: { value } } })
    }
    const { ask } = await replay()
    expect(ask('SELECT name, returns FROM ping_pong')).toEqual([{ name: 'swings', returns: 4 }])
  })

  test('holds the state as of a time, one tenant, one kind', async () => {
    await change(keyOf('cfg'), { object: { data: { a: '1' } } })
    await change(keyOf('theirs', { tenant: 'team-b' }))
    await change(keyOf('web', { resource: 'pods' }), { kind: 'Pod' })
    const { ask: before } = await replay()
    const [last] = before('SELECT max(at) AS at FROM changes') as { at: number }[]
    await change(keyOf('cfg'), { type: 'DELETED' })
    const { ask } = await replay({ asOf: last?.at })
    expect(ask('SELECT name FROM objects ORDER BY name')).toEqual([
      { name: 'cfg' },
      { name: 'theirs' },
      { name: 'web' },
    ])
    const { ask: now } = await replay({ tenant: 'team-a' })
    expect(now('SELECT name FROM objects')).toEqual([{ name: 'web' }])
    const { ask: kind } = await replay({ resource: 'pods' })
    expect(kind('SELECT name FROM changes')).toEqual([{ name: 'web' }])
  })

  test('knows objects whose history is no longer there by their last state', async () => {
    await change(keyOf('old'), { object: { data: { a: '1' } } })
    await expect.poll(async () => (await bus.manager.streams.info('STATE')).state.messages).toBe(1)
    await bus.manager.streams.purge('CHANGES')
    await change(keyOf('new'))
    const { recorded, ask } = await replay()
    expect(recorded).toMatchObject({ changes: 2, isCut: true })
    expect(ask('SELECT name FROM objects ORDER BY name')).toEqual([{ name: 'new' }, { name: 'old' }])
  })

  test('holds no values of Secrets, and what cannot be read under its own name', async () => {
    const secret = keyOf('s', { resource: 'secrets' })
    const vault = vaultIn()
    const sealed = vault.seal(secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'default' },
      data: { password: Buffer.from('hunter2').toString('base64') },
    })
    const { data: _data, ...fields } = sealed as Record<string, unknown>
    await change(secret, { kind: 'Secret', object: fields })
    await publisher.publish({
      subject: 'change.3.team-a.virtual.pods.default.odd',
      headers: {},
      payload: encodePayload({}),
    })
    const { recorded, ask } = await replay()
    expect(recorded).toMatchObject({ changes: 1, unreadable: 1 })
    const [row] = ask('SELECT object FROM changes') as { object: string }[]
    expect(row?.object).toMatch(/"password":"<7 bytes, [0-9a-f]{12}>"/)
    expect(row?.object).not.toContain('sealed')
    expect(ask('SELECT stream, seq, error FROM unreadable')).toEqual([
      { stream: 'CHANGES', seq: 2, error: expect.stringContaining('Causeway-Version') },
    ])
  })

  test('is never half done, and never takes the place of another', async () => {
    await change(keyOf('cfg'))
    const path = join(folder, 'once.db')
    await replay({ path })
    await expect(replay({ path })).rejects.toThrow('is there already')
    const stop = new AbortController()
    stop.abort(new Error('not now'))
    await expect(replay({ path: join(folder, 'never.db'), signal: stop.signal })).rejects.toThrow('not now')
    expect(() => new Sqlite(join(folder, 'never.db'), { fileMustExist: true })).toThrow('unable to open')
  })
})

describe('today’s translator', () => {
  const contexts = new Map([
    ['team-a', { name: 'team-a', hostNamespace: 'causeway-team-a', config: defaultTenantConfig() }],
  ])
  const service = keyOf('web', { resource: 'services' })
  const spec = { type: 'ClusterIP', selector: { app: 'web' }, ports: [{ port: 80, targetPort: 80, protocol: 'TCP' }] }

  test('is held against what was decided then', async () => {
    await change(service, { kind: 'Service', object: { spec } })
    const { recorded, ask } = await replay({ translateFor: contexts })
    expect(recorded.differences).toBe(1)
    const [row] = ask('SELECT only_by, op, name, rule, write FROM translation_differs') as { write: string }[]
    expect(row).toMatchObject({ only_by: 'today', op: 'create', rule: 'create', name: 'web-x-default-x-team-a' })
    const { body } = JSON.parse(row?.write ?? '') as { body: KubeObject }
    await intent(
      'i1',
      { ...copy, resource: 'services', name: 'web-x-default-x-team-a' },
      { write: { op: 'create', body } },
    )
    expect((await replay({ translateFor: contexts })).recorded.differences).toBe(0)
    const other = { ...body, spec: { type: 'NodePort' } }
    await intent(
      'i2',
      { ...copy, resource: 'services', name: 'web-x-default-x-team-a' },
      { write: { op: 'create', body: other }, causeSeq: 9 },
    )
    const { ask: differs } = await replay({ translateFor: contexts })
    expect(differs('SELECT only_by FROM translation_differs')).toEqual([{ only_by: 'log' }])
  })
})

test('today’s translator decides about what was in the log when the other did', async () => {
  const contexts = new Map([
    ['team-a', { name: 'team-a', hostNamespace: 'causeway-team-a', config: defaultTenantConfig() }],
  ])
  const containers = [{ name: 'main', image: 'busybox', envFrom: [{ configMapRef: { name: 'cfg' } }] }]
  const causeSeq = await change(keyOf('web', { resource: 'pods' }), { kind: 'Pod', object: { spec: { containers } } })
  await intent('i1', { ...copy, resource: 'pods', name: 'web' }, { causeSeq, decidedAt: Date.now() + 60_000 })
  await change(keyOf('cfg'), { object: { data: { a: '1' } } })
  await change(keyOf('web', { resource: 'pods' }), {
    type: 'MODIFIED',
    kind: 'Pod',
    object: { spec: { containers: [{ ...containers[0], image: 'later' }] } },
  })
  const { ask } = await replay({ translateFor: contexts })
  const created = ask(`SELECT json_extract(write, '$.body.spec.containers[0].image') AS image FROM decisions
    WHERE origin = 'today' AND op = 'create' AND resource = 'pods'`)
  expect(created).toEqual([{ image: 'later' }])
})

describe('sending again', () => {
  test('is for the last intent of each target that nothing came of, and carries it as it was', async () => {
    const at = (name: string): ObjectKey => ({ ...copy, name })
    await intent('done', at('done'))
    await outcome('done', at('done'))
    await intent('lost-early', at('lost'))
    await intent('lost', at('lost'), { attempt: 1 })
    await intent('parked', at('parked'))
    await outcome('parked', at('parked'), { result: 'parked', reason: 'QuotaExceeded' })
    const path = join(folder, 'again.db')
    await replay({ path })
    const intents = unsettledIntents(path)
    expect(intents.map(({ name, seq, reason }) => ({ name, seq, reason }))).toEqual([
      { name: 'lost', seq: 3, reason: null },
      { name: 'parked', seq: 4, reason: 'QuotaExceeded' },
    ])
    const { signal } = new AbortController()
    expect(await reemit(bus, { intents, filters: recordFilters({}), at: T0, signal })).toBe(2)
    const { ask } = await replay()
    expect(ask('SELECT id, attempt FROM intents WHERE seq > 4 ORDER BY seq')).toEqual([
      { id: 'lost', attempt: 1 },
      { id: 'parked', attempt: 0 },
    ])
  })
})
