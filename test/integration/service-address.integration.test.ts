import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectBus } from '#libs/bus'
import { type TestNats, startTestNats } from '#libs/bus/testing'
import { systemClock } from '#libs/kernel'
import { type KubeClient, createKubeClient, isNotFound, loadClusterConfig } from '#libs/kube'
import { type KubeObject, RESOURCES } from '#libs/kube-model'
import { type Role, openRoleContext, openTenantRegistry } from '#libs/runtime'
import { createLogger } from '#libs/telemetry'
import { replacementMark } from '#libs/translation'
import { type Apiserver, startApiserver } from '../../services/apiserver/role.ts'
import { startTranslator } from '../../services/translator/role.ts'
import { startWatcher } from '../../services/watcher/role.ts'
import { startWriter } from '../../services/writer/role.ts'

/*
 * Tenants whose APIs give Services addresses of their own, as real API servers do: `near` from the host's range, `far`
 * from another. Each test has names of its own.
 */
const { services, namespaces, events, configmaps } = RESOURCES
const logger = createLogger({ service: 'test', level: process.env['TEST_LOG'] ?? 'silent' })

let folder: string
let nats: TestNats
let apiserver: Apiserver
let host: KubeClient
let near: KubeClient
let far: KubeClient
let pipeline: { stop(): Promise<void> }

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-addresses-'))
  nats = await startTestNats()
  const plain = { controllers: false }
  const clusters = { host: plain, near: {}, far: { ...plain, serviceCidr: '10.97.0.0/16' } }
  apiserver = await startApiserver({ dataDir: join(folder, 'apiserver'), logger, clusters })
  const client = async (name: string): Promise<KubeClient> =>
    createKubeClient(await loadClusterConfig({ path: apiserver.kubeconfigFile(name), env: {}, clock: systemClock }))
  ;[host, near, far] = await Promise.all([client('host'), client('near'), client('far')])
  // So that the two sides do not choose the same addresses by chance.
  for (let count = 0; count < 50; count++) await host.create(services, { namespace: 'default' }, serviceOf(`h${count}`))
  const bus = await connectBus({ servers: nats.url, name: 'test' })
  const registry = await openTenantRegistry(bus, 1)
  await registry.setHost({ kubeconfig: apiserver.kubeconfigFile('host') })
  for (const name of ['near', 'far']) {
    const hostNamespace = `causeway-${name}`
    await host.create(namespaces, {}, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: hostNamespace } })
    await registry.put({ name, uid: 'r1', hostNamespace, kubeconfig: apiserver.kubeconfigFile(name) })
  }
  await bus.close()
  pipeline = await startPipeline()
})

afterAll(async () => {
  await pipeline.stop()
  await Promise.all([host, near, far].map((client) => client.close()))
  await apiserver.close()
  await nats.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function startPipeline(): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController()
  const config = {
    natsUrl: nats.url,
    partitions: 2,
    replicas: 1,
    dataDir: join(folder, 'services'),
    keyRingFile: join(folder, 'keys.json'),
    instance: 'one',
    leaseTtlMs: 1_000,
    http: { host: '127.0.0.1', port: 0 },
    log: { level: 'silent' },
  }
  const context = await openRoleContext(config, { name: 'one', logger, signal: stopping.signal })
  const roles: Role[] = []
  for (const start of [startWriter, startTranslator, startWatcher]) roles.push(await start(context))
  for (const role of roles) role.done.catch(() => undefined)
  return {
    stop: async () => {
      for (const role of roles) await role.close()
      await context.close()
    },
  }
}

function serviceOf(name: string, more: { metadata?: object; spec?: object } = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default', ...more.metadata },
    spec: { selector: { app: name }, ports: [{ port: 80 }], ...more.spec },
  }
}

type Spec = { clusterIP?: string; type?: string }
const addressOf = (service: KubeObject | undefined): string | undefined => (service?.['spec'] as Spec)?.clusterIP

async function find(client: KubeClient, namespace: string, name: string): Promise<KubeObject | undefined> {
  return await client.get(services, { namespace, name }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })
}

const inTenant = (name: string, client = near) => find(client, 'default', name)
const onHost = (name: string, tenant = 'near') => find(host, `causeway-${tenant}`, `${name}-x-default-x-${tenant}`)
const make = (name: string, more: { metadata?: object; spec?: object } = {}, client = near) =>
  client.create(services, { namespace: 'default' }, serviceOf(name, more))

/** Waits until both sides have one address and nothing is under way. */
async function agreed(name: string): Promise<{ virtual: KubeObject; copy: KubeObject }> {
  let sides: { virtual: KubeObject | undefined; copy: KubeObject | undefined } | undefined
  await expect
    .poll(
      async () => {
        sides = { virtual: await inTenant(name), copy: await onHost(name) }
        const { annotations } = sides.copy?.metadata ?? {}
        return {
          same: addressOf(sides.virtual) !== undefined && addressOf(sides.virtual) === addressOf(sides.copy),
          stamped: annotations?.['causeway.dev/uid'] === sides.virtual?.metadata.uid,
          note: annotations?.['causeway.dev/replacement'],
        }
      },
      { timeout: 20_000 },
    )
    .toEqual({ same: true, stamped: true, note: undefined })
  return sides as { virtual: KubeObject; copy: KubeObject }
}

describe('a Service', () => {
  test('gets the address of its copy, and keeps everything else', async () => {
    const metadata = { labels: { app: 'plain' }, annotations: { 'example.com/a': 'b' } }
    const made = await make('plain', { metadata, spec: { type: 'NodePort' } })
    const { virtual, copy } = await agreed('plain')
    expect(addressOf(virtual)).not.toBe(addressOf(made))
    expect(virtual.metadata.uid).not.toBe(made.metadata.uid)
    expect(virtual.metadata).toMatchObject(metadata)
    expect(virtual).toMatchObject({ spec: { type: 'NodePort', selector: { app: 'plain' } } })
    expect(copy.metadata.creationTimestamp).toBeDefined()
  })

  test('that is made anew leaves what it owns', async () => {
    const off = { annotations: { 'causeway.dev/sync': 'false' } }
    const made = await make('owner', { metadata: off })
    const owner = { apiVersion: 'v1', kind: 'Service', name: 'owner', uid: made.metadata.uid }
    const owned = { name: 'owned', ownerReferences: [owner] }
    await near.create(configmaps, { namespace: 'default' }, { apiVersion: 'v1', kind: 'ConfigMap', metadata: owned })
    const on = { metadata: { annotations: { 'causeway.dev/sync': null } } }
    await near.patch(services, { namespace: 'default', name: 'owner' }, on, { type: 'merge' })
    const { virtual } = await agreed('owner')
    expect(virtual.metadata.uid).not.toBe(made.metadata.uid)
    const { metadata } = await near.get(configmaps, { namespace: 'default', name: 'owned' })
    expect(metadata.ownerReferences ?? []).toEqual([])
  })

  test('without an address stays as it is', async () => {
    const [headless, external] = [
      await make('headless', { spec: { clusterIP: 'None' } }),
      await make('external', { spec: { type: 'ExternalName', externalName: 'example.com' } }),
    ]
    await expect.poll(() => onHost('external')).toBeDefined()
    await expect.poll(() => onHost('headless')).toMatchObject({ spec: { clusterIP: 'None' } })
    await make('after')
    await agreed('after')
    expect((await inTenant('headless'))?.metadata.uid).toBe(headless.metadata.uid)
    expect((await inTenant('external'))?.metadata.uid).toBe(external.metadata.uid)
  })

  test('that asks for an address gets it on the host, and stays the same object', async () => {
    const made = await make('fixed', { spec: { clusterIP: '10.96.200.7' } })
    const { virtual } = await agreed('fixed')
    expect(addressOf(virtual)).toBe('10.96.200.7')
    expect(virtual.metadata.uid).toBe(made.metadata.uid)
  })

  test('keeps its address when the host loses the copy', async () => {
    await make('lost')
    const before = await agreed('lost')
    const { namespace, name = '', uid = '' } = before.copy.metadata
    await host.delete(services, { namespace, name }, { uid })
    await expect.poll(async () => (await onHost('lost'))?.metadata.uid).not.toBe(uid)
    const after = await agreed('lost')
    expect(addressOf(after.virtual)).toBe(addressOf(before.virtual))
    expect(after.virtual.metadata.uid).toBe(before.virtual.metadata.uid)
  })

  test('keeps its own address, and is told why, where its API does not take that of the host', async () => {
    const made = await make('apart', {}, far)
    const told = async (): Promise<string[]> =>
      (await far.listPage(events, { namespace: 'default' })).items
        .filter((event) => (event['involvedObject'] as { name?: string }).name === 'apart')
        .map((event) => String(event['message']))
    await expect
      .poll(told, { timeout: 20_000 })
      .toEqual([expect.stringMatching(/^Unsupported: .*10\.97\.0\.0\/16|range/)])
    const live = await inTenant('apart', far)
    expect(live?.metadata.uid).toBe(made.metadata.uid)
    expect(addressOf(live)).toBe(addressOf(made))
    expect(await onHost('apart', 'far')).toBeDefined()
  })

  test('that the tenant deletes in the middle of it all is gone for good, on both sides', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `brief-${index}`)
    await Promise.all(
      names.map(async (name, index) => {
        await make(name)
        // Some before the copy is there, some right at the replacement, some after.
        const moments: (() => Promise<unknown>)[] = [() => onHost(name), () => agreed(name)].slice(0, index % 3)
        for (const moment of moments) await expect.poll(moment, { interval: 2, timeout: 20_000 }).toBeDefined()
        await expect
          .poll(
            async () => {
              const live = await inTenant(name)
              if (live === undefined) return 'not there'
              return await near.delete(services, { namespace: 'default', name }, { uid: live.metadata.uid ?? '' }).then(
                () => 'deleted',
                () => 'another one',
              )
            },
            { interval: 2 },
          )
          .toBe('deleted')
      }),
    )
    const left = async (): Promise<unknown[]> =>
      (await Promise.all(names.flatMap((name) => [inTenant(name), onHost(name)]))).filter(
        (found) => found !== undefined,
      )
    await expect.poll(left, { timeout: 20_000 }).toEqual([])
    await make('last')
    await agreed('last')
    expect(await left()).toEqual([])
  })

  test.each([
    ['with', false],
    ['without', true],
  ])('comes back after a crash between deletion and creation, %s what was known of it', async (title, isLost) => {
    const name = `crashed-${title}`
    await make(name, { metadata: { labels: { app: name } } })
    const before = await agreed(name)
    await pipeline.stop()
    // What the writer leaves when it dies there.
    const { uid = '', labels } = before.virtual.metadata
    const body = serviceOf(name, { metadata: { labels }, spec: { clusterIP: addressOf(before.copy) } })
    const note = replacementMark({ uid, body })
    const { namespace, name: copyName = '' } = before.copy.metadata
    const patch = { metadata: { annotations: { 'causeway.dev/replacement': note } } }
    await host.patch(services, { namespace, name: copyName }, patch, { type: 'merge' })
    await near.delete(services, { namespace: 'default', name }, { uid })
    if (isLost) rmSync(join(folder, 'services'), { recursive: true })
    pipeline = await startPipeline()
    const after = await agreed(name)
    expect(after.virtual.metadata.uid).not.toBe(uid)
    expect(after.virtual.metadata.labels).toEqual({ app: name })
    expect(after.copy.metadata.uid).toBe(before.copy.metadata.uid)
    expect(addressOf(after.copy)).toBe(addressOf(before.copy))
  })
})
