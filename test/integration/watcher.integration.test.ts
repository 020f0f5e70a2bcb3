import { afterEach, beforeEach, expect, test } from 'vitest'
import { openKv } from '#libs/bus'
import { RESOURCES, type ResourceInfo, resourceToken } from '#libs/kube-model'
import type { KubeClient } from '#libs/kube'
import { defaultTenantConfig } from '#libs/sync-config'
import { watchedHost, watchedVirtual } from '#libs/translation'
import { type StoredMessage, type WatcherFixture, startFixture } from './watcher-fixture.ts'

const { pods, configmaps, secrets, namespaces, nodes } = RESOURCES

let fixture: WatcherFixture
let host: KubeClient
let virtual: KubeClient

beforeEach(async () => {
  fixture = await startFixture(['host', 'team-a'])
  host = await fixture.client('host')
  virtual = await fixture.client('team-a')
  await fixture.registry.setHost({ kubeconfig: fixture.apiserver.kubeconfigFile('host') })
})
afterEach(async () => {
  await fixture.close()
})

const configmap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})
const copyFor = (tenant: string, name: string) => ({
  ...configmap(name),
  metadata: { name, labels: { 'causeway.dev/tenant': tenant } },
})
const summary = ({ type, key }: StoredMessage) =>
  `${type} ${key.tenant}/${key.side}/${key.resource}/${key.namespace}/${key.name}`
const of = async (name: string) => (await fixture.changes()).filter((change) => change.key.name === name).map(summary)
const makeNamespace = (client: KubeClient, name: string) =>
  client.create(namespaces, {}, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

/** The markers that close a list of each kind: of the host's own objects, and of what is the tenant's on both sides. */
const { copies, shared, reports } = watchedHost([])
const marker = (owner: string, kinds: ResourceInfo[]) =>
  kinds.map((kind) => `SYNCED ${owner}/${resourceToken(kind)}//_synced`)
const sharedMarkers = marker('/host', shared)
const tenantMarkers = [
  ...marker('team-a/host', [...copies, ...reports]),
  ...marker('team-a/virtual', watchedVirtual(defaultTenantConfig())),
]
const markersThere = async () =>
  (await fixture.changes()).flatMap((change) => (change.type === 'SYNCED' ? [summary(change)] : [])).toSorted()

test('what is there is published with a marker behind it, then every change', async () => {
  await fixture.register('team-a')
  await virtual.create(configmaps, { namespace: 'default' }, configmap('before'))
  const { role } = await fixture.watcher()
  await expect.poll(() => role.notReady(), { timeout: 15_000 }).toEqual([])
  await expect.poll(() => of('before')).toEqual(['ADDED team-a/virtual/configmaps/default/before'])
  await expect.poll(markersThere).toEqual([...sharedMarkers, ...tenantMarkers].toSorted())
  const all = await fixture.changes()
  const closed = all.findIndex((change) => summary(change) === 'SYNCED team-a/virtual/configmaps//_synced')
  expect(all.findIndex((change) => change.key.name === 'before')).toBeLessThan(closed)

  const made = await virtual.create(configmaps, { namespace: 'default' }, configmap('web'))
  const web = { namespace: 'default', name: 'web' }
  await virtual.patch(configmaps, web, { data: { a: '1' } }, { type: 'merge' })
  await virtual.delete(configmaps, web, { uid: made.metadata.uid ?? '' })
  await expect
    .poll(() => of('web'))
    .toEqual(['ADDED', 'MODIFIED', 'DELETED'].map((type) => `${type} team-a/virtual/configmaps/default/web`))
  expect(role.statuses().every(({ state }) => state === 'synced')).toBe(true)
})

test('a Secret’s value is nowhere in the log', async () => {
  await fixture.register('team-a')
  const value = 'correct-horse-battery'
  await virtual.create(
    secrets,
    { namespace: 'default' },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'early' }, stringData: { password: value } },
  )
  const { role } = await fixture.watcher()
  await expect.poll(() => role.notReady(), { timeout: 15_000 }).toEqual([])
  const made = await virtual.create(
    secrets,
    { namespace: 'default' },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'late' }, stringData: { password: value } },
  )
  await virtual.delete(secrets, { namespace: 'default', name: 'late' }, { uid: made.metadata.uid ?? '' })
  await expect.poll(async () => (await of('late')).length).toBe(2)
  expect(await of('early')).toHaveLength(1)
  const text = (await fixture.changes()).map((change) => change.text).join('\n')
  expect(text).not.toContain(value)
  expect(text).not.toContain(Buffer.from(value).toString('base64'))
  expect(text).toContain('"sealed"')
})

test('what happened while no watcher ran is published by the next, and nothing twice', async () => {
  await fixture.register('team-a')
  const first = await fixture.watcher('w1')
  await expect.poll(() => first.role.notReady(), { timeout: 15_000 }).toEqual([])
  const gone = await virtual.create(configmaps, { namespace: 'default' }, configmap('gone'))
  await expect.poll(() => of('gone')).toHaveLength(1)
  await expect.poll(async () => (await markersThere()).length).toBe(sharedMarkers.length + tenantMarkers.length)
  await first.close()
  const before = (await fixture.changes()).length

  await virtual.create(configmaps, { namespace: 'default' }, configmap('while-down'))
  await virtual.delete(configmaps, { namespace: 'default', name: 'gone' }, { uid: gone.metadata.uid ?? '' })
  await fixture.watcher('w2')
  await expect.poll(() => of('while-down'), { timeout: 15_000 }).toHaveLength(1)
  await expect.poll(async () => (await of('gone')).at(-1)).toContain('DELETED')
  // No list was made: nothing but the two changes came.
  expect((await fixture.changes()).length).toBe(before + 2)
})

test('deletions that the history no longer tells of are found by a list and confirmed', async () => {
  await fixture.register('team-a')
  const first = await fixture.watcher('w1')
  await expect.poll(() => first.role.notReady(), { timeout: 15_000 }).toEqual([])
  await virtual.create(configmaps, { namespace: 'default' }, configmap('kept'))
  const gone = await virtual.create(configmaps, { namespace: 'default' }, configmap('gone'))
  const remade = await virtual.create(configmaps, { namespace: 'default' }, configmap('remade'))
  await expect.poll(() => of('remade')).toHaveLength(1)
  await first.close()

  for (const { metadata } of [gone, remade])
    await virtual.delete(configmaps, { namespace: 'default', name: metadata.name ?? '' }, { uid: metadata.uid ?? '' })
  await virtual.create(configmaps, { namespace: 'default' }, configmap('remade'))
  fixture.apiserver.compact('team-a', 0)
  await fixture.watcher('w2')
  await expect
    .poll(async () => (await of('gone')).map((each) => each.split(' ')[0]), { timeout: 15_000 })
    .toEqual(['ADDED', 'DELETED'])
  await expect
    .poll(async () => (await of('remade')).map((each) => each.split(' ')[0]))
    .toEqual(['ADDED', 'DELETED', 'ADDED'])
  const deletions = (await fixture.changes()).filter((change) => change.type === 'DELETED')
  expect(new Set(deletions.map((change) => change.uid))).toEqual(
    new Set([gone, remade].map(({ metadata }) => metadata.uid)),
  )
  expect(await of('kept')).toHaveLength(1)
})

test('host objects come from the tenant’s namespace only, and those there before it was registered', async () => {
  await makeNamespace(host, 'causeway-team-a')
  await makeNamespace(host, 'elsewhere')
  await host.create(configmaps, { namespace: 'causeway-team-a' }, copyFor('team-a', 'early'))
  const { role } = await fixture.watcher()
  await expect.poll(() => role.notReady(), { timeout: 15_000 }).toEqual([])
  await host.create(configmaps, { namespace: 'causeway-team-a' }, copyFor('team-a', 'still-early'))
  await host.create(nodes, {}, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })
  await expect.poll(() => of('n1')).toEqual(['ADDED /host/nodes//n1'])

  await fixture.register('team-a')
  await expect
    .poll(() => of('early'), { timeout: 15_000 })
    .toEqual(['ADDED team-a/host/configmaps/causeway-team-a/early'])
  await expect.poll(() => of('still-early')).toHaveLength(1)
  await host.create(configmaps, { namespace: 'elsewhere' }, copyFor('team-a', 'impostor'))
  await host.create(configmaps, { namespace: 'causeway-team-a' }, copyFor('nobody', 'nobodys'))
  await host.create(configmaps, { namespace: 'causeway-team-a' }, copyFor('team-a', 'last'))
  await expect.poll(() => of('last')).toHaveLength(1)
  expect([...(await of('impostor')), ...(await of('nobodys'))]).toEqual([])
})

test('a copy that lost its label is published as it is now, not as deleted', async () => {
  await fixture.register('team-a')
  await makeNamespace(host, 'causeway-team-a')
  const { role } = await fixture.watcher()
  await expect.poll(() => role.notReady(), { timeout: 15_000 }).toEqual([])
  const target = { namespace: 'causeway-team-a' }
  await host.create(configmaps, target, copyFor('team-a', 'copy'))
  const doomed = await host.create(configmaps, target, copyFor('team-a', 'doomed'))
  await host.patch(
    configmaps,
    { ...target, name: 'copy' },
    { metadata: { labels: { 'causeway.dev/tenant': null } } },
    { type: 'merge' },
  )
  await host.delete(configmaps, { ...target, name: 'doomed' }, { uid: doomed.metadata.uid ?? '' })
  await expect.poll(async () => (await of('doomed')).at(-1)).toContain('DELETED')
  const changes = (await fixture.changes()).filter((change) => change.key.name === 'copy')
  expect(changes.map(summary)).toEqual(
    ['ADDED', 'MODIFIED'].map((type) => `${type} team-a/host/configmaps/causeway-team-a/copy`),
  )
  expect(changes.at(-1)?.object().metadata.labels ?? {}).not.toHaveProperty('causeway.dev/tenant')
})

test('a copy that was relabelled stays the tenant’s it was of, also for a watch that was taken up again', async () => {
  await fixture.register('team-a')
  await fixture.register('team-b', fixture.apiserver.kubeconfigFile('team-a'))
  await makeNamespace(host, 'causeway-team-a')
  const target = { namespace: 'causeway-team-a' }
  const relabel = (name: string, tenant: string) =>
    host.patch(
      configmaps,
      { ...target, name },
      { metadata: { labels: { 'causeway.dev/tenant': tenant } } },
      { type: 'merge' },
    )
  const first = await fixture.watcher()
  await host.create(configmaps, target, copyFor('team-a', 'one'))
  await host.create(configmaps, target, copyFor('team-a', 'two'))
  await expect.poll(async () => [...(await of('one')), ...(await of('two'))], { timeout: 15_000 }).toHaveLength(2)
  const of2 = (name: string) =>
    ['ADDED', 'MODIFIED'].map((type) => `${type} team-a/host/configmaps/causeway-team-a/${name}`)
  await relabel('one', 'team-b')
  await expect.poll(() => of('one')).toEqual(of2('one'))
  await first.close()
  await relabel('two', 'nobody')
  await fixture.watcher('w2')
  await expect.poll(() => of('two'), { timeout: 15_000 }).toEqual(of2('two'))
})

test('a process killed between publish and position repeats itself without a double', async () => {
  await fixture.register('team-a')
  const first = fixture.watcherProcess('w1')
  const markers = async () => (await fixture.changes()).filter((change) => change.type === 'SYNCED').length
  await expect.poll(markers, { timeout: 20_000 }).toBe(sharedMarkers.length + tenantMarkers.length)
  const make = async (from: number) => {
    const numbers = Array.from({ length: 100 }, (_, index) => from + index)
    await Promise.all(numbers.map((n) => virtual.create(configmaps, { namespace: 'default' }, configmap(`cm-${n}`))))
  }
  await make(0)
  const published = async () => (await fixture.changes()).filter((change) => change.key.name.startsWith('cm-'))
  await expect.poll(async () => (await published()).length).toBeGreaterThan(0)
  await first.kill()
  await make(100)
  fixture.watcherProcess('w2')
  await expect.poll(async () => (await published()).length, { timeout: 20_000 }).toBe(200)
  expect(new Set((await published()).map((change) => change.id)).size).toBe(200)
})

test('another cluster behind the kubeconfig stops the tenant, until its identity is forgotten', async () => {
  await fixture.register('team-a')
  const first = await fixture.watcher('w1')
  await expect.poll(() => first.role.notReady(), { timeout: 15_000 }).toEqual([])
  await virtual.create(
    pods,
    { namespace: 'default' },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    },
  )
  await expect.poll(() => of('web')).toHaveLength(1)
  await first.close()

  fixture.apiserver.deleteCluster('team-a')
  fixture.apiserver.createCluster('team-a', { controllers: false })
  const { role, context } = await fixture.watcher('w2')
  const states = () => role.statuses().flatMap(({ tenant, state }) => (tenant === 'team-a' ? [state] : []))
  await expect.poll(() => new Set(states()), { timeout: 15_000 }).toEqual(new Set(['cluster-changed']))
  await expect.poll(() => role.notReady().join(), { timeout: 15_000 }).toMatch(/cluster-changed/)
  expect(await of('web')).toHaveLength(1)

  const identities = await openKv(context.bus, { bucket: 'causeway-identities' })
  await identities.delete('tenant.team-a.uid-team-a')
  await expect.poll(async () => (await of('web')).at(-1), { timeout: 20_000 }).toContain('DELETED')
})

test('the host’s own cluster is not followed as a tenant, and keeps nobody else waiting', async () => {
  const first = await fixture.watcher('w1')
  await expect.poll(() => first.role.notReady(), { timeout: 15_000 }).toEqual([])
  await fixture.register('loop', fixture.apiserver.kubeconfigFile('host'))
  const message = () => first.role.statuses().find(({ tenant }) => tenant === 'loop')?.message ?? ''
  await expect.poll(message, { timeout: 15_000 }).toMatch(/tenant\.loop\..* is the host's own cluster/)
  expect(first.role.notReady()).toEqual([])
})

test('of two tenants with one cluster only the first is followed, and the other once the first is gone', async () => {
  await fixture.register('team-a')
  const first = await fixture.watcher()
  await expect.poll(() => first.role.notReady(), { timeout: 15_000 }).toEqual([])
  await fixture.register('twin', fixture.apiserver.kubeconfigFile('team-a'))
  const states = () => first.role.statuses().filter(({ tenant }) => tenant === 'twin')
  await expect
    .poll(() => states().map(({ message }) => message), { timeout: 15_000 })
    .toContainEqual(expect.stringMatching(/tenant\.twin\..* is the cluster of tenant\.team-a\./))
  expect(first.role.notReady()).toEqual([])
  await fixture.registry.remove('team-a')
  await expect.poll(() => states().every(({ state }) => state === 'synced'), { timeout: 20_000 }).toBe(true)
})

test('a tenant that is registered anew is published anew, both sides', async () => {
  await fixture.register('team-a')
  await makeNamespace(host, 'causeway-team-a')
  await virtual.create(configmaps, { namespace: 'default' }, configmap('mine'))
  await host.create(configmaps, { namespace: 'causeway-team-a' }, copyFor('team-a', 'copy'))
  const { role } = await fixture.watcher()
  await expect.poll(() => role.notReady(), { timeout: 15_000 }).toEqual([])
  for (const uid of ['second', 'third']) {
    const before = (await of('copy')).length
    await fixture.registry.remove('team-a')
    await fixture.register('team-a', fixture.apiserver.kubeconfigFile('team-a'), uid)
    await expect.poll(() => of('copy'), { timeout: 15_000 }).toHaveLength(before + 1)
    await expect.poll(() => of('mine'), { timeout: 15_000 }).toHaveLength(before + 1)
    const markers = async () =>
      (await fixture.changes()).filter(({ type, text }) => type === 'SYNCED' && text.includes(`"owner":"${uid}"`))
    await expect.poll(async () => (await markers()).length, { timeout: 15_000 }).toBe(tenantMarkers.length)
  }
})
