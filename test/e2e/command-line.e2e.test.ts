import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Bus, connectBus, openKv } from '#libs/bus'
import { openTenantRegistry, openWaitingReports, waitingKey } from '#libs/runtime'
import { type Cluster, openCluster } from '../harness/cluster.ts'
import { type Installation, causeway, newFolder, startUp } from '../harness/installation.ts'
import { isRunning, podOf } from '../harness/objects.ts'
import { isAlive } from '../harness/process.ts'
import { MODES } from '../harness/world.ts'

describe.each(MODES)('$mode', ({ separate }) => {
  let up: Installation
  let host: Cluster
  /** Of a user, apart from the installation. */
  let home: string
  beforeAll(async () => {
    home = newFolder()
    up = await startUp({ separate, tenants: ['first'] })
    host = await openCluster(up.ready.hostKubeconfig)
  })
  afterAll(async () => {
    await host?.close()
    await up?.dispose()
    rmSync(home, { recursive: true, force: true })
  })

  const run = async (kubeconfig: string, name: string): Promise<void> => {
    const cluster = await openCluster(kubeconfig)
    await cluster.until('serviceaccounts', { namespace: 'default', name: 'default' }, () => true)
    await cluster.create(podOf('default', name))
    await cluster.until('pods', { namespace: 'default', name }, isRunning)
    await cluster.close()
  }

  test('a tenant is created, served, listed and connected to while everything runs', async () => {
    const created = await up.command('tenant', 'create', 'second', '--json')
    expect(created).toMatchObject({ code: 0, stderr: '' })
    const { kubeconfig, hostNamespace } = JSON.parse(created.stdout) as { kubeconfig: string; hostNamespace: string }
    await run(kubeconfig, 'web')
    expect(await host.find('pods', { namespace: hostNamespace, name: 'web-x-default-x-second' })).toBeDefined()

    const listed = await up.command('tenant', 'list', '--json')
    const tenants = JSON.parse(listed.stdout) as { name: string; health?: { state: string } }[]
    expect(Object.fromEntries(tenants.map(({ name, health }) => [name, health?.state]))).toEqual({
      first: 'synced',
      second: 'synced',
    })

    const mine = join(home, 'kubeconfig')
    expect(await up.command('tenant', 'connect', 'second', '--kubeconfig', mine)).toMatchObject({ code: 0 })
    expect(parse(readFileSync(mine, 'utf8'))).toMatchObject({ 'current-context': 'causeway_second' })
    await run(mine, 'by-context')
    const again = await up.command('tenant', 'create', 'second')
    expect(again.code).toBe(2)
    expect(again.stderr).toContain('"second" exists already')
  })

  test('a tenant whose token is wrong is registered, and not called served', async () => {
    const wrong = join(home, 'wrong.yaml')
    const own = readFileSync(up.ready.kubeconfigs['first'] ?? '', 'utf8')
    writeFileSync(wrong, own.replace(/token: .*/, 'token: wrong'))
    const { code, stdout } = await up.command('tenant', 'create', 'locked', '--kubeconfig', wrong)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^tenant locked is registered; not served yet: unauthorized: .*401/)
    expect(await up.command('tenant', 'delete', 'locked', '--yes')).toMatchObject({ code: 0 })
  })

  test('a tenant is deleted with its copies, and another of its name begins anew', async () => {
    expect(await up.command('tenant', 'create', 'passing')).toMatchObject({ code: 0 })
    const kubeconfig = join(up.data, 'apiserver', 'kubeconfigs', 'passing.yaml')
    await run(kubeconfig, 'web')
    const refused = await up.command('tenant', 'delete', 'passing')
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('--yes')
    expect(await up.command('tenant', 'delete', 'passing', '--yes')).toMatchObject({ code: 0 })
    await host.untilGone('namespaces', { name: 'causeway-passing' })
    expect(await keysLeft(up, 'passing')).toEqual([])
    const first = await openCluster(up.ready.kubeconfigs['first'] ?? '')
    expect(await first.find('namespaces', { name: 'default' })).toBeDefined()
    await first.close()

    expect(await up.command('tenant', 'create', 'passing')).toMatchObject({ code: 0 })
    await run(kubeconfig, 'web')
    const copies = await host.list('pods', 'causeway-passing')
    expect(copies.map(({ metadata }) => metadata.name)).toEqual(['web-x-default-x-passing'])
  })

  test('a tenant that is registered anew at once, with the same cluster, keeps its copies and is followed whole', async () => {
    const kubeconfig = up.ready.kubeconfigs['first'] ?? ''
    const ref = { namespace: 'default', name: 'kept' }
    const copy = { namespace: 'causeway-first', name: 'kept-x-default-x-first' }
    await run(kubeconfig, 'kept')
    const { uid } = (await host.get('pods', copy)).metadata
    await withBus(up, async (bus) => {
      const registry = await openTenantRegistry(bus, 1)
      const entry = await registry.get('first')
      if (entry === undefined) throw new Error('the tenant is not registered')
      await registry.remove('first')
      await registry.put({ ...entry, uid: randomUUID() })
    })
    await run(kubeconfig, 'of-the-second')
    expect((await host.get('pods', copy)).metadata.uid).toBe(uid)
    const first = await openCluster(kubeconfig)
    await first.delete('pods', ref)
    await host.untilGone('pods', copy)
    await first.untilGone('pods', ref)
    await first.close()
  })

  test('status shows processes, partitions and APIs', async () => {
    const { code, stdout } = await up.command('status', '--json')
    const report = JSON.parse(stdout) as {
      processes: { name: string; pid: number }[]
      partitions: { role: string; held: number; of: number }[]
      host: { state: string }
    }
    expect(code).toBe(0)
    expect(report.host.state).toBe('synced')
    expect(report.processes.every(({ pid }) => isAlive(pid))).toBe(true)
    expect(report.partitions.map(({ role, held, of }) => [role, held === of])).toEqual([
      ['watcher', true],
      ['translator', true],
      ['writer', true],
    ])
    const text = await up.command('status')
    expect(text.stdout).toContain('nats')
    expect(text.stdout).toContain('first')
  })

  test('status names what waits, and why, as long as it does', async () => {
    const name = 'taken-x-default-x-first'
    const foreign = { namespace: 'causeway-first', name }
    await host.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: foreign })
    const first = await openCluster(up.ready.kubeconfigs['first'] ?? '')
    try {
      const metadata = { namespace: 'default', name: 'taken', annotations: { 'causeway.dev/sync': 'true' } }
      await first.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata })
      const isTold = (isThere: boolean) =>
        expect.poll(() => waitingOf(up, 'first'), { timeout: 30_000, interval: 200 }).toHaveLength(isThere ? 1 : 0)
      await isTold(true)
      const { code, stdout } = await up.command('status', '-t', 'first')
      expect(code).toBe(1)
      expect(stdout).toMatch(/configmaps\/default\/taken +ForeignObject/)
      expect((await up.command('status')).stdout).toContain('1 waits: ForeignObject 1')
      await first.delete('configmaps', { namespace: 'default', name: 'taken' })
      await isTold(false)
      expect(await up.command('status', '-t', 'first')).toMatchObject({ code: 0 })
    } finally {
      await first.close()
      await host.delete('configmaps', foreign)
    }
  })

  test('a second start on the same folder is refused while the first runs', async () => {
    const second = startUp({ data: up.data, separate })
    await expect(second).rejects.toThrow(`in use by process ${up.ready.pid}`)
  })

  test('after a restart the same kubeconfigs are valid, and what ran goes on', async () => {
    const before = up.pids()
    const file = up.ready.kubeconfigs['first'] ?? ''
    const text = readFileSync(file, 'utf8')
    await run(file, 'before')
    expect(await up.stop()).toMatchObject({ code: 0 })
    for (const [name, pid] of Object.entries(before)) expect([name, isAlive(pid)]).toEqual([name, false])
    up = await up.restart({ tenants: [] })
    expect(Object.keys(up.ready.kubeconfigs).toSorted()).toEqual(['first', 'host', 'passing', 'second'])
    expect(readFileSync(file, 'utf8')).toBe(text)
    const cluster = await openCluster(file)
    await cluster.until('pods', { namespace: 'default', name: 'before' }, isRunning)
    await cluster.close()
    await run(file, 'after')
  })
})

test.each(MODES)('up --once runs the sample, checks it and ends with 0, $mode', async ({ separate }) => {
  const data = newFolder()
  const { code, stdout, stderr } = await causeway('up', '--once', '--data', data, ...(separate ? ['--separate'] : []))
  rmSync(data, { recursive: true, force: true })
  expect({ code, stderr }).toMatchObject({ code: 0 })
  expect(stdout).toMatch(/ok: \d+ pods of 2 tenants run on the host/)
})

test('what a user has deleted of the sample does not come back with the next start', async () => {
  let up = await startUp({ separate: false, sample: true })
  const file = up.ready.kubeconfigs['team-a'] ?? ''
  const deleted = { namespace: 'sample', name: 'volume-test' }
  let tenant = await openCluster(file)
  await tenant.delete('pods', deleted, { gracePeriodSeconds: 0 })
  await tenant.untilGone('pods', deleted)
  await tenant.close()
  await up.stop()

  up = await up.restart({})
  tenant = await openCluster(file)
  const names = (await tenant.list('pods', 'sample')).map(({ metadata }) => metadata.name)
  expect(names).toContain('cartservice')
  expect(names).not.toContain(deleted.name)
  await tenant.close()
  await up.dispose()
})

async function withBus<T>(up: Installation, use: (bus: Bus) => Promise<T>): Promise<T> {
  const bus = await connectBus({ servers: up.ready.natsUrl, name: 'e2e', signal: new AbortController().signal })
  try {
    return await use(bus)
  } finally {
    await bus.close()
  }
}

/** What the translator says that waits of a tenant. */
function waitingOf(up: Installation, tenant: string): Promise<object[]> {
  return withBus(up, async (bus) => {
    const told = await (await openWaitingReports(bus, 1)).get(waitingKey(tenant))
    return told?.value.objects ?? []
  })
}

/** Keys of all buckets that name a tenant. */
function keysLeft(up: Installation, tenant: string): Promise<string[]> {
  const buckets = ['positions', 'causeway-registry', 'causeway-identities', 'causeway-clusters', 'causeway-status']
  return withBus(up, async (bus) => {
    const lists = [...buckets, 'causeway-waiting', 'causeway-holds'].map(async (bucket) => {
      const entries = await (await openKv<unknown>(bus, { bucket })).list()
      return entries.map(({ key, value }) => `${bucket} ${key} ${JSON.stringify(value)}`)
    })
    return (await Promise.all(lists)).flat().filter((entry) => entry.split(/[^-a-z]/).includes(tenant))
  })
}

test('commands say so when nothing runs on the folder', async () => {
  const data = newFolder()
  const { code, stderr } = await causeway('status', '--data', data)
  rmSync(data, { recursive: true, force: true })
  expect(code).toBe(3)
  expect(stderr).toContain(`nothing runs on ${data}`)
})
