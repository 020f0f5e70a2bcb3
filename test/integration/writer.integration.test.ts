import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type Bus,
  type Publisher,
  connectBus,
  createPublisher,
  ensureStreams,
  openKv,
  openPositions,
  readOrdered,
} from '#libs/bus'
import { type TestNats, startTestNats } from '#libs/bus/testing'
import {
  type Intent,
  type LoggedOutcome,
  STREAMS,
  type Write,
  decodeOutcome,
  encodeIntent,
  partitionFilters,
  streamDeclarations,
} from '#libs/events'
import { systemClock } from '#libs/kernel'
import { type KubeClient, createKubeClient, isNotFound, loadClusterConfig, staticClusterConfig } from '#libs/kube'
import { startFakeApiServer } from '#libs/kube/testing'
import { type KubeObject, type ObjectKey, RESOURCES } from '#libs/kube-model'
import type { Role } from '#libs/runtime'
import { createLogger } from '#libs/telemetry'
import { createVault } from '#libs/vault'
import { type Apiserver, startApiserver } from '../../services/apiserver/role.ts'
import { type WriterContext, startWriter } from '../../services/writer/role.ts'

const logger = createLogger({ service: 'test', level: process.env['TEST_LOG'] ?? 'silent' })
const vault = createVault({ active: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) })
const HOST_NAMESPACES: Record<string, string> = { 'team-a': 'cw-team-a', 'team-b': 'cw-team-b' }

let dataDir: string
let apiserver: Apiserver
let host: KubeClient
let clients: Record<string, KubeClient>
let nats: TestNats
let bus: Bus
let publisher: Publisher
let outcomes: LoggedOutcome[]
let stopReading: AbortController
let running: Role[]
let published: number

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'causeway-writer-'))
  const plain = { controllers: false }
  apiserver = await startApiserver({ dataDir, logger, clusters: { host: plain, 'team-a': plain, 'team-b': plain } })
  const client = async (name: string): Promise<KubeClient> =>
    createKubeClient(await loadClusterConfig({ path: apiserver.kubeconfigFile(name), env: {}, clock: systemClock }))
  host = await client('host')
  clients = { 'team-a': await client('team-a'), 'team-b': await client('team-b') }
  for (const name of [...Object.values(HOST_NAMESPACES), 'kept']) {
    await host.create(RESOURCES.namespaces, {}, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
})

afterAll(async () => {
  await Promise.all([host, ...Object.values(clients)].map((client) => client.close()))
  await apiserver.close()
  rmSync(dataDir, { recursive: true, force: true })
})

beforeEach(async () => {
  nats = await startTestNats()
  bus = await connectBus({ servers: nats.url, name: 'test' })
  await ensureStreams(bus, streamDeclarations())
  publisher = createPublisher(bus)
  outcomes = []
  running = []
  published = 0
  stopReading = new AbortController()
  void collectOutcomes()
})

afterEach(async () => {
  for (const role of running) await role.close()
  stopReading.abort()
  publisher.close()
  await bus.close()
  await nats.stop()
})

async function collectOutcomes(): Promise<void> {
  const reader = readOrdered(bus, {
    stream: STREAMS.outcomes,
    filterSubjects: partitionFilters('outcome', 0),
    startSeq: 1,
    signal: stopReading.signal,
  })
  for await (const batch of reader) outcomes.push(...batch.map(decodeOutcome))
}

type Options = { limits?: Parameters<typeof startWriter>[1]; clients?: Record<string, KubeClient>; bus?: Bus }

async function startTestWriter(options: Options = {}): Promise<{ role: Role; metrics: Registry }> {
  const of = { ...clients, ...options.clients }
  const metrics = new Registry()
  const context: WriterContext = {
    bus: options.bus ?? bus,
    config: {
      natsUrl: nats.url,
      partitions: 1,
      replicas: 1,
      dataDir,
      keyRingFile: '',
      instance: `writer-${running.length}`,
      leaseTtlMs: 2_000,
      http: { host: '127.0.0.1', port: 0 },
      log: { level: 'silent' },
    },
    clock: systemClock,
    random: Math.random,
    logger,
    metrics,
    vault,
    directory: {
      host: () => host,
      client: (name) => of[name],
      tenants: () => Object.keys(HOST_NAMESPACES).map(tenantEntry),
      tenant: (name) => (name in HOST_NAMESPACES ? tenantEntry(name) : undefined),
    },
  }
  const role = await startWriter(context, options.limits)
  running.push(role)
  return { role, metrics }
}

const tenantEntry = (name: string) => ({
  name,
  uid: 'r1',
  hostNamespace: HOST_NAMESPACES[name] ?? '',
  kubeconfig: '',
})

/** A name of its own for each object of each test: the API servers outlive them. */
let lastName = 0
const newName = (): string => `o${++lastName}`

function hostKey(name: string, resource = 'configmaps', tenant = 'team-a'): ObjectKey {
  return { tenant, side: 'host', resource, namespace: HOST_NAMESPACES[tenant] ?? '', name }
}

function copyOf(target: ObjectKey, data: Record<string, string> = { a: '1' }): KubeObject {
  const { namespace, name, resource, tenant } = target
  return {
    apiVersion: 'v1',
    kind: resource === 'secrets' ? 'Secret' : 'ConfigMap',
    metadata: {
      namespace,
      name,
      labels: { 'causeway.dev/tenant': tenant, 'causeway.dev/namespace': 'default' },
      annotations: {
        'causeway.dev/name': name,
        'causeway.dev/namespace': 'default',
        'causeway.dev/uid': `uid-of-${name}`,
        'causeway.dev/resource': resource,
        'causeway.dev/host-name': `${namespace}/${name}`,
      },
    },
    data,
  }
}

const create = (target: ObjectKey, data?: Record<string, string>): Write => ({
  op: 'create',
  body: copyOf(target, data),
})

async function ask(target: ObjectKey, write: Write, more: Partial<Intent> = {}): Promise<string> {
  published += 1
  const now = Date.now()
  const intent: Intent = {
    id: `intent-${published}`,
    target,
    write,
    source: { resource: target.resource, namespace: 'default', name: target.name },
    needs: [],
    causeSeq: published,
    observedAt: now,
    loggedAt: now,
    decidedAt: now,
    rule: 'create',
    fence: 1,
    attempt: 0,
    ...more,
  }
  await publisher.publish(encodeIntent(intent, 0))
  return intent.id
}

const outcomeOf = (id: string): LoggedOutcome | undefined => outcomes.find((outcome) => outcome.intentId === id)
const resultOf = (id: string): string | undefined => outcomeOf(id)?.result

async function settled(...ids: string[]): Promise<(string | undefined)[]> {
  await expect.poll(() => ids.filter((id) => outcomeOf(id) === undefined), { timeout: 20_000 }).toEqual([])
  return ids.map(resultOf)
}

async function onHost(target: ObjectKey): Promise<KubeObject | undefined> {
  const resource = target.resource === 'secrets' ? RESOURCES.secrets : RESOURCES.configmaps
  return await host.get(resource, target).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })
}

describe('an intent', () => {
  test('becomes an object, and an outcome with its uid, version and times', async () => {
    await startTestWriter()
    const target = hostKey(newName())
    const id = await ask(target, create(target), { base: { a: '1' } })
    expect(await settled(id)).toEqual(['done'])
    const live = await onHost(target)
    const outcome = outcomeOf(id)
    expect(live?.['data']).toEqual({ a: '1' })
    expect(outcome).toMatchObject({
      uid: live?.metadata.uid,
      resourceVersion: live?.metadata.resourceVersion,
      target,
      base: { a: '1' },
    })
    expect(outcome?.stages.finishedAt).toBeGreaterThanOrEqual(outcome?.stages.startedAt ?? Infinity)
  })

  test('is followed by those for the same target, in their order, to the end', async () => {
    await startTestWriter()
    const target = hostKey(newName())
    const made = await ask(target, create(target))
    await settled(made)
    const uid = outcomeOf(made)?.uid ?? ''
    const patched = await ask(target, { op: 'patch', patchType: 'merge', body: { data: { b: '2' } }, uid })
    await settled(patched)
    expect((await onHost(target))?.['data']).toEqual({ a: '1', b: '2' })
    const removed = await ask(target, { op: 'delete', uid, proof: { kind: 'tombstone', seq: 5 } })
    expect(await settled(removed)).toEqual(['done'])
    expect(await onHost(target)).toBeUndefined()
  })

  test('to patch or delete an object that is another one by now changes nothing', async () => {
    await startTestWriter()
    const target = hostKey(newName())
    await settled(await ask(target, create(target)))
    const uid = '11111111-2222-3333-4444-555555555555'
    const patched = await ask(target, { op: 'patch', patchType: 'merge', body: { data: { b: '2' } }, uid })
    await settled(patched)
    const removed = await ask(target, { op: 'delete', uid, proof: { kind: 'tombstone', seq: 5 } })
    expect(await settled(patched, removed)).toEqual(['conflict', 'done'])
    expect((await onHost(target))?.['data']).toEqual({ a: '1' })
  })

  test('carries Secrets sealed, and the API gets them open', async () => {
    await startTestWriter()
    const target = hostKey(newName(), 'secrets')
    const body = vault.seal(target, copyOf(target, { password: 'czNjcjN0' }))
    await settled(await ask(target, { op: 'create', body }))
    expect((await onHost(target))?.['data']).toEqual({ password: 'czNjcjN0' })
  })

  test('that needs others waits for them', async () => {
    await startTestWriter()
    const [secret, user] = [hostKey(newName(), 'secrets'), hostKey(newName())]
    const needed = await ask(secret, { op: 'create', body: vault.seal(secret, copyOf(secret)) })
    const { side, resource, namespace, name } = secret
    const needing = await ask(user, create(user), { needs: [{ side, resource, namespace, name }] })
    await settled(needed, needing)
    const [first, second] = [outcomeOf(needed), outcomeOf(needing)]
    expect(second?.stages.startedAt).toBeGreaterThanOrEqual(first?.stages.finishedAt ?? Infinity)
  })

  test('reaches the tenant’s side: a node, a binding, a status, an Event', async () => {
    await startTestWriter()
    const api = clients['team-a'] as KubeClient
    const name = newName()
    const pod = await api.create(
      RESOURCES.pods,
      { namespace: 'default' },
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: 'default' },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      },
    )
    const uid = pod.metadata.uid ?? ''
    const target: ObjectKey = { tenant: 'team-a', side: 'virtual', resource: 'pods', namespace: 'default', name }
    const nodeKey = { ...target, resource: 'nodes', namespace: '', name: 'node-1' }
    const node: Write = {
      op: 'create',
      body: {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'node-1', labels: { 'causeway.dev/virtual-node': 'true' } },
      },
    }
    const needs = [{ side: 'virtual' as const, resource: 'nodes', namespace: '', name: 'node-1' }]
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
    const news = { ...target, resource: 'events', name: `${name}.1` }
    const announce = (text: string): Write => ({
      op: 'announce',
      body: {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: news.name, namespace: 'default' },
        involvedObject: { kind: 'Pod', name, namespace: 'default' },
        reason: 'SyncWaiting',
        message: text,
      },
    })
    const ids = [
      await ask(nodeKey, node),
      await ask(target, { op: 'bind', node: 'node-1', uid }, { needs }),
      await ask(target, { op: 'patch', patchType: 'strategic', subresource: 'status', body: { status }, uid }),
      await ask(news, announce('once')),
      await ask(nodeKey, node),
    ]
    expect(await settled(...ids)).toEqual(ids.map(() => 'done'))
    await settled(await ask(news, announce('twice')))
    const live = await api.get(RESOURCES.pods, target)
    expect(live['spec']).toMatchObject({ nodeName: 'node-1' })
    expect(live['status']).toMatchObject({ phase: 'Running' })
    expect(await api.get(RESOURCES.events, news)).toMatchObject({ message: 'twice', count: 2 })
  })
})

describe('a virtual node', () => {
  const leases = {
    group: 'coordination.k8s.io',
    version: 'v1',
    plural: 'leases',
    kind: 'Lease',
    namespaced: true,
  }

  test('has a lease from the start, which is renewed as long as the node is there', async () => {
    const { metrics } = await startTestWriter({ limits: { heartbeatMs: 300 } })
    const api = clients['team-a'] as KubeClient
    const name = newName()
    const target: ObjectKey = { tenant: 'team-a', side: 'virtual', resource: 'nodes', namespace: '', name }
    const metadata = { name, labels: { 'causeway.dev/virtual-node': 'true' } }
    const made = await ask(target, { op: 'create', body: { apiVersion: 'v1', kind: 'Node', metadata } })
    await settled(made)
    const { uid = '' } = outcomeOf(made) ?? {}
    const lease = async (): Promise<KubeObject | undefined> =>
      await api.get(leases, { namespace: 'kube-node-lease', name }).catch(() => undefined)
    const renewedAt = async (): Promise<string | undefined> =>
      ((await lease())?.['spec'] as { renewTime?: string } | undefined)?.renewTime
    await expect.poll(lease, { timeout: 10_000 }).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Node', name, uid }] },
      spec: { holderIdentity: name, leaseDurationSeconds: 40 },
    })
    const first = await renewedAt()
    await expect.poll(renewedAt, { timeout: 10_000 }).not.toBe(first)
    expect(await metrics.getSingleMetricAsString('causeway_writer_node_heartbeats_total')).toMatch(
      /result="renewed"} [1-9]/,
    )
    await settled(await ask(target, { op: 'delete', uid, proof: { kind: 'state', seq: 5 } }))
  })
})

describe('a deletion that needs confirmation', () => {
  const confirmed = async (uid: string): Promise<{ target: ObjectKey; id: string }> => {
    const target = hostKey(newName())
    const made = await ask(target, create(target))
    await settled(made)
    const counterpart: ObjectKey = { ...target, side: 'virtual', namespace: 'default' }
    await (await openKv(bus, { bucket: 'causeway-identities' })).put('tenant.team-a.r1', { uid })
    const proof = { kind: 'confirm-absent' as const, counterpart }
    const id = await ask(target, { op: 'delete', uid: outcomeOf(made)?.uid ?? '', proof })
    await settled(id)
    return { target, id }
  }

  test('is made when the tenant’s own cluster does not know the object', async () => {
    await startTestWriter()
    const { target, id } = await confirmed((await clients['team-a']?.clusterIdentity()) ?? '')
    expect(resultOf(id)).toBe('done')
    expect(await onHost(target)).toBeUndefined()
  })

  test('is not made on the word of another cluster', async () => {
    await startTestWriter()
    const { target, id } = await confirmed('another')
    expect(outcomeOf(id)).toMatchObject({ result: 'parked', reason: 'StillPresent' })
    expect(await onHost(target)).toBeDefined()
  })
})

describe('what must not be written', () => {
  test('an object that is not ours keeps its name and stays as it is', async () => {
    await startTestWriter()
    const target = hostKey(newName())
    const foreign = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: target.name }, data: { theirs: 'yes' } }
    const before = await host.create(RESOURCES.configmaps, { namespace: target.namespace }, foreign)
    const id = await ask(target, create(target))
    await settled(id)
    expect(outcomeOf(id)).toMatchObject({ result: 'parked', reason: 'ForeignObject' })
    expect(await onHost(target)).toEqual(before)
  })

  test('a write outside the tenant’s namespace is refused and counted', async () => {
    const { metrics } = await startTestWriter()
    const target = { ...hostKey(newName()), namespace: 'kept' }
    const id = await ask(target, create(target))
    await settled(id)
    expect(outcomeOf(id)).toMatchObject({ result: 'refused', reason: 'OutsideTenant' })
    expect(await onHost(target)).toBeUndefined()
    expect(await metrics.metrics()).toContain('causeway_writer_security_refusals_total{side="host"} 1')
  })

  test('what a translator decided that lost its partition is dropped', async () => {
    await startTestWriter()
    const target = hostKey(newName())
    const newer = await ask(target, create(target, { by: 'new' }), { fence: 2 })
    const older = await ask(target, create(target, { by: 'old' }), { fence: 1 })
    expect(await settled(newer, older)).toEqual(['done', 'superseded'])
    expect((await onHost(target))?.['data']).toEqual({ by: 'new' })
  })

  test('what cannot be read is parked, and holds nothing up', async () => {
    await startTestWriter()
    const target = hostKey(newName())
    const subject = `intent.0.team-a.host.configmaps.cw-team-a.${target.name}`
    const headers = { 'Nats-Msg-Id': 'poison', 'Causeway-Version': '99', 'Causeway-Type': 'create' }
    await publisher.publish({ subject, headers, payload: new TextEncoder().encode('{') })
    const id = await ask(target, create(target))
    expect(await settled('poison', id)).toEqual(['parked', 'done'])
    expect(outcomeOf('poison')).toMatchObject({ reason: 'PoisonMessage' })
  })
})

describe('an API that fails', () => {
  const dead = (): KubeClient => createKubeClient(staticClusterConfig({ server: 'https://127.0.0.1:1', token: 'x' }))
  const nodeOf = (tenant: string, name: string): ObjectKey => ({
    tenant,
    side: 'virtual',
    resource: 'nodes',
    namespace: '',
    name,
  })
  const node = (name: string): Write => ({
    op: 'create',
    body: { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { 'causeway.dev/virtual-node': 'true' } } },
  })

  test('has its writes parked, while those of another tenant go on', async () => {
    const client = dead()
    await startTestWriter({ clients: { 'team-a': client }, limits: { deadlineMs: 1_500 } })
    const first = await ask(nodeOf('team-a', 'first'), node('first'))
    const others = [newName(), newName(), newName()]
    const ids: string[] = []
    for (const name of others) ids.push(await ask(nodeOf('team-b', name), node(name)))
    expect(await settled(...ids)).toEqual(ids.map(() => 'done'))
    expect(resultOf(first)).toBeUndefined()
    await settled(first)
    expect(outcomeOf(first)).toMatchObject({ result: 'parked', reason: 'ApiUnavailable' })
    // Known to be dead, it is not waited for again.
    const second = await ask(nodeOf('team-a', 'second'), node('second'))
    await settled(second)
    const { startedAt = 0, finishedAt = 0 } = outcomeOf(second)?.stages ?? {}
    expect(finishedAt - startedAt).toBeLessThan(1_000)
    await client.close()
  })

  test('that never answers keeps no other tenant waiting, nor the host’s side of its own', async () => {
    const silent = await startFakeApiServer()
    silent.script('other', ...Array.from({ length: 50 }, () => () => undefined))
    const client = createKubeClient(silent.config)
    await startTestWriter({ clients: { 'team-a': client }, limits: { deadlineMs: 2_000, callTimeoutMs: 1_000 } })
    const hanging: string[] = []
    for (let n = 0; n < 40; n += 1) hanging.push(await ask(nodeOf('team-a', `hang-${n}`), node(`hang-${n}`)))
    const [own, other] = [hostKey(newName()), hostKey(newName(), 'configmaps', 'team-b')]
    const ids = [await ask(own, create(own)), await ask(other, create(other))]
    expect(await settled(...ids)).toEqual(['done', 'done'])
    await settled(...hanging)
    expect(new Set(hanging.map((id) => outcomeOf(id)?.reason))).toEqual(new Set(['ApiUnavailable']))
    await client.close()
    await silent.close()
  })

  test('does not let one tenant fill the memory: the surplus is parked', async () => {
    const silent = await startFakeApiServer()
    silent.script('other', ...Array.from({ length: 50 }, () => () => undefined))
    const client = createKubeClient(silent.config)
    await startTestWriter({ clients: { 'team-a': client }, limits: { maxPerTenant: 3, drainMs: 100 } })
    const ids: string[] = []
    for (let n = 0; n < 10; n += 1) ids.push(await ask(nodeOf('team-a', `flood-${n}`), node(`flood-${n}`)))
    expect(await settled(...ids.slice(3))).toEqual(ids.slice(3).map(() => 'parked'))
    expect(ids.slice(0, 3).map(resultOf)).toEqual([undefined, undefined, undefined])
    await client.close()
    await silent.close()
  })

  test('gets only the newest of what waited for it', async () => {
    const server = await startFakeApiServer()
    const client = createKubeClient(server.config)
    let answer: () => void = () => undefined
    const [ok, body] = [
      { 'content-type': 'application/json' },
      JSON.stringify({ metadata: { uid: 'u', resourceVersion: '2' } }),
    ]
    server.script(
      'other',
      (response) => {
        answer = () => response.writeHead(200, ok).end(body)
      },
      (response) => response.writeHead(200, ok).end(body),
    )
    await startTestWriter({ clients: { 'team-a': client } })
    const target: ObjectKey = { tenant: 'team-a', side: 'virtual', resource: 'pods', namespace: 'default', name: 'p' }
    const status = (n: number): Write => ({
      op: 'patch',
      patchType: 'strategic',
      subresource: 'status',
      body: { status: { n } },
      uid: 'u',
    })
    const ids = [await ask(target, status(1))]
    await expect.poll(() => server.requests.length).toBe(1)
    for (let n = 2; n <= 5; n += 1) ids.push(await ask(target, status(n)))
    await settled(...ids.slice(1, 4))
    answer()
    expect(await settled(...ids)).toEqual(['done', 'superseded', 'superseded', 'superseded', 'done'])
    expect(server.requests.map((request) => (JSON.parse(request.body) as { status: object }).status)).toEqual([
      { n: 1 },
      { n: 5 },
    ])
    await client.close()
    await server.close()
  })
})

describe('a restart', () => {
  test('goes on behind what is settled', async () => {
    const { role } = await startTestWriter()
    const target = hostKey(newName())
    const made = await ask(target, create(target))
    await settled(made)
    await role.close()
    const stored = await (await openPositions<{ seq: number }>(bus)).get('writer.0')
    expect(stored?.value.seq).toBe(1)
  })

  test('does not bring back what was created and deleted beyond the stored position', async () => {
    const client = createKubeClient(staticClusterConfig({ server: 'https://127.0.0.1:1', token: 'x' }))
    const first = await startTestWriter({ clients: { 'team-a': client }, limits: { drainMs: 100 } })
    const target = hostKey(newName())
    // Holds the position back: it stays unsettled for as long as this writer runs.
    const stuck: ObjectKey = { tenant: 'team-a', side: 'virtual', resource: 'nodes', namespace: '', name: 'stuck' }
    const body = { metadata: { name: 'stuck', labels: { 'causeway.dev/virtual-node': 'true' } } }
    const waiting = await ask(stuck, { op: 'create', body: { apiVersion: 'v1', kind: 'Node', ...body } })
    const made = await ask(target, create(target))
    await settled(made)
    const uid = outcomeOf(made)?.uid ?? ''
    await settled(await ask(target, { op: 'delete', uid, proof: { kind: 'tombstone', seq: 5 } }))
    await first.role.close()
    await client.close()
    await startTestWriter()
    expect(await settled(waiting)).toEqual(['done'])
    const last = hostKey(newName())
    await settled(await ask(last, create(last)))
    expect(await onHost(target)).toBeUndefined()
    expect(outcomes.filter((outcome) => outcome.intentId === made)).toHaveLength(1)
  })

  test('in the middle of many writes makes each once', async () => {
    // A connection of its own, cut without a word: what a killed process leaves behind.
    const doomed = await connectBus({ servers: nats.url, name: 'doomed' })
    const { role } = await startTestWriter({ bus: doomed })
    running.pop()
    role.done.catch(() => undefined)
    const targets = Array.from({ length: 200 }, () => hostKey(newName()))
    const ids: string[] = []
    for (const target of targets.slice(0, 100)) ids.push(await ask(target, create(target)))
    await expect.poll(() => outcomes.length, { timeout: 20_000 }).toBeGreaterThan(20)
    await doomed.nats.close()
    for (const target of targets.slice(100)) ids.push(await ask(target, create(target)))
    await startTestWriter()
    const results = await settled(...ids)
    expect(new Set(results)).toEqual(new Set(['done']))
    for (const target of targets) {
      const live = await onHost(target)
      const told = outcomes.filter((outcome) => outcome.target.name === target.name).map((outcome) => outcome.uid)
      expect(new Set(told)).toEqual(new Set([live?.metadata.uid]))
    }
  })
})
