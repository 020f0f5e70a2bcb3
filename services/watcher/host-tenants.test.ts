import { expect, test } from 'vitest'
import type { TenantEntry } from '#libs/runtime'
import { systemClock } from '#libs/kernel'
import { HostTenants } from './host-tenants.ts'

const entry = (name: string, uid = '1'): TenantEntry => ({
  name,
  uid,
  hostNamespace: `ns-${name}`,
  kubeconfig: `/${name}`,
})

function setUp(options: { known?: string[]; failures?: number } = {}) {
  const registered = new Map<string, TenantEntry>()
  const told: string[] = []
  let failures = options.failures ?? 0
  let ready = false
  const tenants = new HostTenants({
    directory: { tenants: () => [...registered.values()], tenant: (name) => registered.get(name) },
    known: () =>
      (options.known ?? []).map((tenant) => ({ tenant, namespace: '', name: '', uid: '', resourceVersion: '' })),
    isReady: () => ready,
    mark: ({ name, uid }) => told.push(`marked ${name}/${uid}`),
    catchUp: async ({ name, uid }) => {
      if (failures-- > 0) throw new Error('no')
      told.push(`caught up ${name}/${uid}`)
    },
    onFailed: (name) => told.push(`failed ${name}`),
    clock: systemClock,
    random: () => 0,
  })
  const register = (tenant: TenantEntry): void => {
    registered.set(tenant.name, tenant)
    tenants.onChange('added', tenant)
  }
  const list = (): void => {
    tenants.beginList()
    tenants.closeList({ resourceVersion: '1', count: 0 })
    ready = true
    tenants.rouse()
  }
  return { tenants, told, register, registered, list }
}

test('a list is closed for those registered when it began, the others get their own', async () => {
  const { tenants, told, register } = setUp()
  const stop = new AbortController()
  register(entry('a'))
  tenants.beginList()
  register(entry('b'))
  tenants.closeList({ resourceVersion: '1', count: 0 })
  expect(told).toEqual(['marked a/1'])
  stop.abort()
  await tenants.follow(stop.signal)
})

test('a tenant that comes later is caught up on, once', async () => {
  const { tenants, told, register, list } = setUp()
  const stop = new AbortController()
  const following = tenants.follow(stop.signal)
  list()
  register(entry('a'))
  await expect.poll(() => told).toEqual(['caught up a/1'])
  tenants.rouse()
  register(entry('b'))
  await expect.poll(() => told).toEqual(['caught up a/1', 'caught up b/1'])
  stop.abort()
  await following
})

test('a tenant that the log has a marker of is not', async () => {
  const { tenants, told, register, list } = setUp()
  const stop = new AbortController()
  tenants.recall({ name: 'a', uid: '1' })
  register(entry('a'))
  register(entry('b'))
  const following = tenants.follow(stop.signal)
  list()
  await new Promise(setImmediate)
  expect(told).toEqual(['marked a/1', 'marked b/1'])
  stop.abort()
  await following
})

test('a new tenant of an old name is caught up on, even if a list saw it', async () => {
  const { tenants, told, register, list } = setUp({ known: ['a'] })
  const stop = new AbortController()
  tenants.recall({ name: 'a', uid: '1' })
  register(entry('a', '2'))
  const following = tenants.follow(stop.signal)
  list()
  await expect.poll(() => told).toEqual(['caught up a/2'])
  stop.abort()
  await following
})

test('a failure is told and tried again', async () => {
  const { tenants, told, register, list } = setUp({ failures: 1 })
  const stop = new AbortController()
  const following = tenants.follow(stop.signal)
  list()
  register(entry('a'))
  await expect.poll(() => told).toEqual(['failed a', 'caught up a/1'])
  stop.abort()
  await following
})
