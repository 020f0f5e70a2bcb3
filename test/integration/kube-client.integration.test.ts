import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '#libs/kernel'
import {
  createKubeClient,
  isAlreadyExists,
  isConflict,
  isInvalid,
  isNotFound,
  isUnauthorized,
  loadClusterConfig,
  reflect,
  staticClusterConfig,
} from '#libs/kube'
import type { KubeClient, KnownObject, ReflectorEvent } from '#libs/kube'
import { RESOURCES } from '#libs/kube-model'
import type { KubeObject } from '#libs/kube-model'
import { startApiserver } from '../../services/apiserver/role.ts'
import type { Apiserver } from '../../services/apiserver/role.ts'

const { configmaps, pods, nodes } = RESOURCES
const OTHER_UID = '00000000-0000-4000-8000-000000000000'
const FAST = { interval: 10, timeout: 10_000 }
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

let dataDir: string
let server: Apiserver
let client: KubeClient

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'kube-client-'))
  server = await startApiserver({ dataDir, clusters: { 'team-a': {} }, logger: silent })
  client = createKubeClient(await configOf(server))
})
afterAll(async () => {
  await client.close()
  await server.close()
  await rm(dataDir, { recursive: true })
})

const configOf = (apiserver: Apiserver) =>
  loadClusterConfig({ path: apiserver.kubeconfigFile('team-a'), env: {}, clock: systemClock })

const inDefault = (name: string) => ({ namespace: 'default', name })
const uidOf = (object: KubeObject): string => object.metadata.uid ?? ''

function createConfigMap(name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) {
  return client.create(configmaps, { namespace: 'default' }, { metadata: { name, labels }, data })
}

function createPod(name: string): Promise<KubeObject> {
  const spec = { containers: [{ name: 'c', image: 'busybox' }] }
  return client.create(pods, { namespace: 'default' }, { metadata: { name }, spec })
}

describe('the client', () => {
  test('knows the cluster and its version', async () => {
    const identity = await client.clusterIdentity()
    expect(identity).toMatch(/^[0-9a-f-]{36}$/)
    expect(await client.clusterIdentity()).toBe(identity)
    expect(await client.version()).toMatchObject({ major: '1' })
  })

  test('creates, reads, patches, replaces and deletes', async () => {
    const created = await createConfigMap('life', { a: '1' })
    expect(created).toMatchObject({ kind: 'ConfigMap', data: { a: '1' }, metadata: { uid: expect.any(String) } })
    expect(created.metadata.managedFields?.[0]).toMatchObject({ manager: 'causeway' })
    await expect(createConfigMap('life')).rejects.toSatisfy(isAlreadyExists)

    const target = inDefault('life')
    const patched = await client.patch(configmaps, target, { data: { b: '2' } }, { type: 'merge' })
    expect(patched['data']).toEqual({ a: '1', b: '2' })
    const operations = [{ op: 'remove', path: '/data/a' }]
    expect((await client.patch(configmaps, target, operations, { type: 'json' }))['data']).toEqual({ b: '2' })

    const stale = { ...created, data: { lost: 'update' } }
    await expect(client.replace(configmaps, target, stale)).rejects.toSatisfy(isConflict)
    const current = await client.get(configmaps, target)
    expect((await client.replace(configmaps, target, { ...current, data: {} }))['data'] ?? {}).toEqual({})

    await client.delete(configmaps, target, { uid: uidOf(created) })
    await expect(client.get(configmaps, target)).rejects.toSatisfy(isNotFound)
  })

  test('changes and deletes nothing under another uid', async () => {
    const created = await createConfigMap('precious', { a: '1' })
    const target = inDefault('precious')
    const patch = { metadata: { uid: OTHER_UID }, data: { a: '2' } }
    await expect(client.patch(configmaps, target, patch, { type: 'merge' })).rejects.toSatisfy(isConflict)
    await expect(client.delete(configmaps, target, { uid: OTHER_UID })).rejects.toSatisfy(isConflict)
    expect(await client.get(configmaps, target)).toEqual(created)
  })

  test('binds a pod once, and only the one it means', async () => {
    await client.create(nodes, {}, { metadata: { name: 'node-1' } })
    const pod = { ...inDefault('bound'), uid: uidOf(await createPod('bound')) }
    await expect(client.bind({ ...pod, uid: OTHER_UID }, 'node-1')).rejects.toSatisfy(isConflict)
    await client.bind(pod, 'node-1')
    expect(await client.get(pods, pod)).toMatchObject({ spec: { nodeName: 'node-1' } })
    await expect(client.bind(pod, 'node-1')).rejects.toSatisfy(isConflict)
  })

  test("patches a pod's status and leaves the rest", async () => {
    const created = await createPod('status')
    const status = { conditions: [{ type: 'Ready', status: 'True' }] }
    const body = { metadata: { uid: uidOf(created) }, spec: { nodeName: 'x' }, status }
    const patched = await client.patch(pods, inDefault('status'), body, { type: 'strategic', subresource: 'status' })
    expect(patched).toMatchObject({ status: { conditions: [{ type: 'Ready' }] } })
    expect(patched['spec']).not.toHaveProperty('nodeName')
  })

  test('says what the server does not accept', async () => {
    await expect(createConfigMap('Not A Name')).rejects.toSatisfy(isInvalid)
  })

  test('lists page by page', async () => {
    for (const name of ['page-1', 'page-2', 'page-3']) await createConfigMap(name, {}, { page: 'yes' })
    const pages = []
    for await (const page of client.listPages(configmaps, { namespace: 'default', labelSelector: 'page', limit: 2 })) {
      pages.push(page.items.map((item) => `${item.kind}/${item.metadata.name}`))
    }
    expect(pages).toEqual([['ConfigMap/page-1', 'ConfigMap/page-2'], ['ConfigMap/page-3']])
  })

  test('is not let in with a wrong token', async () => {
    const access = await (await configOf(server)).access()
    const { ca = '' } = access.tls
    const stranger = createKubeClient(staticClusterConfig({ server: access.server, ca, token: 'wrong' }))
    await expect(stranger.get(pods, inDefault('bound'))).rejects.toSatisfy(isUnauthorized)
    await stranger.close()
  })

  test('serves many watches and writes at once, also without HTTP/2', async () => {
    for (const http2 of [true, false]) {
      const busy = createKubeClient(await configOf(server), { http2 })
      const stop = new AbortController()
      const options = { resourceVersion: '', timeoutSeconds: 300, signal: stop.signal }
      await Promise.all(Array.from({ length: 120 }, () => busy.watch(configmaps, options)))
      const names = Array.from({ length: 30 }, (_, index) => inDefault(`busy-${index}`))
      const made = await Promise.all(
        names.map((target) => busy.create(configmaps, target, { metadata: { name: target.name } })),
      )
      await Promise.all(
        names.map((target, at) => busy.delete(configmaps, target, { uid: uidOf(made[at] ?? { metadata: {} }) })),
      )
      stop.abort(new Error('enough'))
      await busy.close()
    }
    const { items } = await client.listPage(configmaps, { namespace: 'default' })
    expect(items.filter((item) => item.metadata.name?.startsWith('busy'))).toEqual([])
  })
})

describe('the reflector', () => {
  let stop: AbortController
  beforeEach(() => {
    stop = new AbortController()
  })
  afterEach(() => stop.abort(new Error('test is over')))

  /** Follows the ConfigMaps of one label in the background. */
  function follow(options: { label: string; client?: KubeClient; checkpoint?: string; known?: () => KnownObject[] }) {
    const { label, ...rest } = options
    const events: ReflectorEvent[] = []
    const consume = async (): Promise<void> => {
      const common = { client, resource: configmaps, clock: systemClock, random: Math.random, signal: stop.signal }
      for await (const event of reflect({ ...common, ...rest, labelSelector: `test=${label}` })) events.push(event)
    }
    const done = consume()
    const changes = (): string[] =>
      events.flatMap((event) => ('object' in event ? [`${event.type} ${event.object.metadata.name}`] : []))
    const states = (): string[] => events.flatMap((event) => (event.type === 'STATE' ? [event.state] : []))
    return { events, changes, states, done }
  }

  const create = (label: string, name: string) => createConfigMap(name, {}, { test: label })

  test('lists and then hands out every change, as the bytes of its watch line', async () => {
    await create('follow', 'there')
    const { events, changes, states } = follow({ label: 'follow' })
    await expect.poll(states, FAST).toContain('watching')
    const made = await create('follow', 'new')
    await client.patch(configmaps, inDefault('new'), { data: { a: 'ü' } }, { type: 'merge' })
    await client.delete(configmaps, inDefault('new'), { uid: uidOf(made) })
    await expect.poll(changes, FAST).toEqual(['ADDED there', 'ADDED new', 'MODIFIED new', 'DELETED new'])
    for (const event of events) {
      if (!('raw' in event)) continue
      expect(JSON.parse(event.raw.toString())).toEqual({ type: event.type, object: event.object })
      expect(event.object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' })
      expect(event.object.metadata).not.toHaveProperty('managedFields')
    }
  })

  test('resumes from a checkpoint with what happened since, and no more', async () => {
    const first = await create('resume', 'before')
    await create('resume', 'since')
    const { changes, states } = follow({ label: 'resume', checkpoint: first.metadata.resourceVersion ?? '' })
    await expect.poll(changes, FAST).toEqual(['ADDED since'])
    expect(states()).toEqual(['watching'])
  })

  test('lists again when history is compacted, and tells what is missing', async () => {
    const first = await create('compact', 'stays')
    const gone = await create('compact', 'goes')
    await client.delete(configmaps, inDefault('goes'), { uid: uidOf(gone) })
    server.compact('team-a', 0)
    const identity = (object: KubeObject): KnownObject => ({
      ...inDefault(object.metadata.name ?? ''),
      uid: uidOf(object),
    })
    const checkpoint = first.metadata.resourceVersion ?? ''
    const { events, changes, states } = follow({
      label: 'compact',
      checkpoint,
      known: () => [identity(first), identity(gone)],
    })
    await expect.poll(() => states().at(-1), FAST).toBe('watching')
    await expect.poll(changes, FAST).toEqual(['ADDED stays'])
    const listed = events.find((event) => event.type === 'LISTED')
    expect(listed).toMatchObject({ cause: 'expired', count: 1, missing: [identity(gone)] })
  })

  test('rides out a restart of the server and misses nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kube-restart-'))
    const start = (port: number) =>
      startApiserver({ dataDir: folder, port, clusters: { 'team-a': {} }, logger: silent })
    let restarted = await start(0)
    const own = createKubeClient(await configOf(restarted))
    const make = (name: string) =>
      own.create(configmaps, { namespace: 'default' }, { metadata: { name, labels: { test: 'restart' } } })
    const { changes, states, done } = follow({ label: 'restart', client: own })
    await expect.poll(states, FAST).toContain('watching')
    await make('before')
    await expect.poll(changes, FAST).toEqual(['ADDED before'])
    await restarted.close()
    await expect.poll(states, FAST).toContain('backing-off')
    restarted = await start(restarted.address.port)
    await expect.poll(() => make('after').catch(() => undefined), FAST).toBeDefined()
    await expect.poll(changes, FAST).toEqual(['ADDED before', 'ADDED after'])
    expect(states().filter((state) => state === 'listing')).toHaveLength(1)
    stop.abort(new Error('enough'))
    await done
    await own.close()
    await restarted.close()
    await rm(folder, { recursive: true })
  })
})
