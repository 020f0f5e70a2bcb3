import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Bus, connectBus, openKv } from '#libs/bus'
import { type TestNats, startTestNats } from '#libs/bus/testing'
import { systemClock } from '#libs/kernel'
import {
  type TenantDirectory,
  type TenantEntry,
  type TenantEvent,
  type TenantRegistry,
  openTenantDirectory,
  openTenantRegistry,
} from '#libs/runtime'
import { createLogger } from '#libs/telemetry'

const logger = createLogger({ service: 'test', level: process.env['TEST_LOG'] ?? 'silent' })
const BUCKET = 'causeway-registry'

let nats: TestNats
let bus: Bus
let registry: TenantRegistry
let directory: TenantDirectory
let events: string[]
let stop: AbortController

const tenant = (name: string, from: Partial<TenantEntry> = {}): TenantEntry => ({
  name,
  uid: `${name}-1`,
  hostNamespace: `causeway-${name}`,
  kubeconfig: `/none/${name}.yaml`,
  ...from,
})

beforeAll(async () => {
  nats = await startTestNats()
  bus = await connectBus({ servers: nats.url, name: 'test' })
})

afterAll(async () => {
  await bus.close()
  await nats.stop()
})

beforeEach(async () => {
  registry = await openTenantRegistry(bus, 1)
  events = []
  stop = new AbortController()
})

afterEach(async () => {
  stop.abort()
  await directory.close()
  await bus.manager.streams.delete(`KV_${BUCKET}`)
})

async function open(): Promise<void> {
  directory = await openTenantDirectory({ bus, replicas: 1, clock: systemClock, logger, signal: stop.signal })
  directory.subscribe(({ type, tenant: { name } }: TenantEvent) => events.push(`${type} ${name}`))
}

test('opens with all that is registered, and follows what changes', async () => {
  await registry.setHost({ kubeconfig: '/none/host.yaml' })
  await registry.put(tenant('team-a'))
  await open()
  expect(directory.tenants().map(({ name }) => name)).toEqual(['team-a'])
  expect(directory.context('team-a')).toMatchObject({ name: 'team-a', hostNamespace: 'causeway-team-a' })
  await registry.put(tenant('team-b'))
  await registry.put(tenant('team-a', { hostNamespace: 'elsewhere' }))
  await registry.put(tenant('team-a', { hostNamespace: 'elsewhere' }))
  expect(await registry.remove('team-b')).toBe(true)
  expect(await registry.remove('team-b')).toBe(false)
  await expect.poll(() => events).toEqual(['added team-b', 'changed team-a', 'removed team-b'])
  expect(directory.tenant('team-a')?.hostNamespace).toBe('elsewhere')
  expect(directory.client('team-b')).toBeUndefined()
})

test('waits for the host', async () => {
  let isOpen = false
  const opening = open().then(() => {
    isOpen = true
  })
  await registry.put(tenant('team-a'))
  expect(isOpen).toBe(false)
  await registry.setHost({ kubeconfig: '/none/host.yaml' })
  await opening
  expect(directory.host().constructor).toBeDefined()
})

test('stops waiting when it is told to', async () => {
  await registry.setHost({ kubeconfig: '/none/host.yaml' })
  await open()
  await directory.close()
  await bus.manager.streams.delete(`KV_${BUCKET}`)
  const early = new AbortController()
  const opening = openTenantDirectory({ bus, replicas: 1, clock: systemClock, logger, signal: early.signal })
  early.abort(new Error('enough'))
  await expect(opening).rejects.toThrow('enough')
})

test('an entry that is invalid leaves what was known, and others are followed', async () => {
  await registry.setHost({ kubeconfig: '/none/host.yaml' })
  await registry.put(tenant('team-a'))
  await open()
  const raw = await openKv<unknown>(bus, { bucket: BUCKET })
  await raw.put('tenant.team-a', { name: 'team-a', uid: 7 })
  await raw.put('tenant.bad', 'text')
  await raw.put('tenant.a-x-b', tenant('a-x-b'))
  await registry.put(tenant('team-b'))
  await expect.poll(() => events).toEqual(['added team-b'])
  expect(directory.tenant('team-a')?.uid).toBe('team-a-1')
  expect(directory.tenant('a-x-b')).toBeUndefined()
})

test('an entry under another’s key is not taken in', async () => {
  await registry.setHost({ kubeconfig: '/none/host.yaml' })
  await registry.put(tenant('team-a'))
  await open()
  const raw = await openKv<unknown>(bus, { bucket: BUCKET })
  await raw.put('tenant.team-b', tenant('team-a', { hostNamespace: 'kube-system' }))
  await registry.put(tenant('team-c'))
  await expect.poll(() => events).toEqual(['added team-c'])
  expect(directory.tenant('team-a')?.hostNamespace).toBe('causeway-team-a')
})

test('keeps a client per tenant, and makes a new one for another kubeconfig', async () => {
  await registry.setHost({ kubeconfig: '/none/host.yaml' })
  await registry.put(tenant('team-a'))
  await open()
  const client = directory.client('team-a')
  expect(client).toBeDefined()
  expect(directory.client('team-a')).toBe(client)
  await registry.put(tenant('team-a', { kubeconfig: '/none/other.yaml' }))
  await expect.poll(() => events).toEqual(['changed team-a'])
  expect(directory.client('team-a')).not.toBe(client)
})

test('a listener that fails keeps neither the others nor the directory from following', async () => {
  await registry.setHost({ kubeconfig: '/none/host.yaml' })
  directory = await openTenantDirectory({ bus, replicas: 1, clock: systemClock, logger, signal: stop.signal })
  directory.subscribe(() => {
    throw new Error('broken')
  })
  directory.subscribe(({ tenant: { name } }) => events.push(name))
  await registry.put(tenant('team-a'))
  await registry.put(tenant('team-b'))
  await expect.poll(() => events).toEqual(['team-a', 'team-b'])
})
