import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Cluster, openCluster } from '../harness/cluster.ts'
import { causeway, newFolder, startUp, upArguments } from '../harness/installation.ts'
import type { Installation } from '../harness/installation.ts'
import { isRunning, podOf, unique } from '../harness/objects.ts'
import { startScript } from '../harness/process.ts'
import { MODES } from '../harness/world.ts'

/** Each question to `status` is a process of its own. */
const POLL = { timeout: 40_000, interval: 500 }

let folder: string
const cleanups: (() => Promise<void>)[] = []
beforeAll(() => {
  folder = newFolder()
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('up ends with an error that names', () => {
  const failing = async (...args: string[]): Promise<{ code: number | null; stderr: string }> => {
    const data = newFolder()
    cleanups.push(() => Promise.resolve(rmSync(data, { recursive: true, force: true })))
    return causeway(...upArguments(data, { separate: false, args }))
  }

  test('every unknown key of the config and every invalid tenant', async () => {
    const config = join(folder, 'config.yaml')
    writeFileSync(config, 'host:\n  kubeconfg: /x\ntenants:\n  - name: Bad_Name\n  - name: ok\n    colour: blue\n')
    const { code, stderr } = await failing('--config', config)
    expect(code).toBe(2)
    expect(stderr).toContain('host.kubeconfg: unknown key')
    expect(stderr).toContain('tenants[1].colour: unknown key')
    expect(stderr).toContain('"Bad_Name"')
  })

  test('a tenant’s invalid name', async () => {
    const { code, stderr } = await failing('--tenant', 'a-x-b')
    expect(code).toBe(2)
    expect(stderr).toContain('tenant name "a-x-b" contains "-x-"')
  })

  test('a config file that is no YAML', async () => {
    const config = join(folder, 'broken.yaml')
    writeFileSync(config, 'tenants: [')
    const { code, stderr } = await failing('--config', config)
    expect(code).toBe(2)
    expect(stderr).toContain(config)
  })

  test('a host kubeconfig that is not there', async () => {
    const missing = join(folder, 'no-host.yaml')
    const { code, stderr } = await failing('--host-kubeconfig', missing, '--tenant', 'a')
    expect(code).not.toBe(0)
    expect(stderr).toContain(missing)
  })

  test.each(['--nats-port', '--apiserver-port'])('a port of %s that is taken', async (flag) => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const { code, stderr } = await failing(flag, String(port))
    other.close()
    expect(code).not.toBe(0)
    expect(stderr).toContain(flag)
    expect(stderr).toContain(String(port))
  })
})

describe.each(MODES)('$mode', ({ separate }) => {
  test('tenants that cannot be served are named, and the others go on', async () => {
    const apart = await startApart()
    const wrongToken = join(folder, `wrong-token-${separate}.yaml`)
    writeFileSync(wrongToken, readFileSync(apart.kubeconfig, 'utf8').replace(/token: .*/, 'token: wrong'))
    const down = join(folder, `down-${separate}.yaml`)
    writeFileSync(down, readFileSync(apart.kubeconfig, 'utf8').replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1'))
    const unreadable = join(folder, `not-yet-${separate}.yaml`)
    const up = await startUp({
      separate,
      tenants: ['good', `rejected=${wrongToken}`, `down=${down}`, `unreadable=${unreadable}`],
    })
    cleanups.push(() => up.dispose())
    await expectToRun(up, 'good')
    await expect.poll(() => stateOf(up, 'rejected'), POLL).toMatchObject({ state: 'unauthorized' })
    await expect.poll(() => stateOf(up, 'down'), POLL).toMatchObject({ state: 'unreachable' })
    const { message } = await stateOf(up, 'down')
    expect(message).toContain('127.0.0.1:1')
    const state = await stateOf(up, 'unreadable')
    expect(state.state).not.toBe('synced')
    expect(state.message).toContain(unreadable)

    // Once it can be read, the tenant is served without a restart.
    writeFileSync(unreadable, readFileSync(apart.kubeconfig, 'utf8'))
    await expect.poll(() => stateOf(up, 'unreadable'), POLL).toMatchObject({ state: 'synced' })
    await expectToRun(up, 'unreadable', apart.kubeconfig)
  })

  test('a tenant whose API goes down later keeps nobody waiting, and is served again when it is back', async () => {
    const apart = await startApart()
    const up = await startUp({ separate, tenants: ['good', `apart=${apart.kubeconfig}`] })
    cleanups.push(() => up.dispose())
    await expectToRun(up, 'apart')
    await apart.stop()
    await expectToRun(up, 'good')
    await expect.poll(() => stateOf(up, 'apart'), POLL).toMatchObject({ state: 'unreachable' })
    await apart.start()
    await expectToRun(up, 'apart')
    await expect.poll(() => stateOf(up, 'apart'), POLL).toMatchObject({ state: 'synced' })
  })

  test('kill -9 of the embedded API server is survived by what runs, and the next pods run', async () => {
    const up = await startUp({ separate, tenants: ['good'] })
    cleanups.push(() => up.dispose())
    const cluster = await openCluster(up.ready.kubeconfigs['good'] ?? '')
    cleanups.push(() => cluster.close())
    await cluster.create(podOf('default', 'before'))
    const before = await cluster.until('pods', { namespace: 'default', name: 'before' }, isRunning)
    const pid = up.pids()['apiserver'] ?? 0
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => up.pids()['apiserver'], { timeout: 20_000 }).not.toBe(pid)
    await expectToRun(up, 'good')
    const after = await cluster.get('pods', { namespace: 'default', name: 'before' })
    expect(after.metadata.uid).toBe(before.metadata.uid)
    expect(isRunning(after)).toBe(true)
    await expect.poll(() => stateOf(up, 'good'), POLL).toMatchObject({ state: 'synced' })
  })
})

/** An API server with one cluster, in a process of its own, that can be stopped and started. */
async function startApart(): Promise<{ kubeconfig: string; start(): Promise<void>; stop(): Promise<void> }> {
  const data = newFolder()
  let port = 0
  const start = async (): Promise<() => Promise<void>> => {
    const args = ['--data-dir', data, '--clusters', 'apart:open', '--port', String(port), '--log-level', 'warn']
    const server = startScript('services/apiserver/main.ts', args)
    port = (JSON.parse(await server.firstLine) as { port: number }).port
    return async () => void (await server.end('SIGKILL'))
  }
  let stop = await start()
  cleanups.push(async () => {
    await stop()
    rmSync(data, { recursive: true, force: true })
  })
  return {
    kubeconfig: join(data, 'kubeconfigs', 'apart.yaml'),
    stop: () => stop(),
    start: async () => {
      stop = await start()
    },
  }
}

type TenantState = { name: string; state: string; message: string }

async function stateOf(up: Installation, tenant: string): Promise<TenantState> {
  const { stdout } = await up.command('status', '--json')
  const { tenants } = JSON.parse(stdout) as { tenants: TenantState[] }
  return tenants.find(({ name }) => name === tenant) ?? { name: tenant, state: 'missing', message: '' }
}

/** A new pod of the tenant runs. */
async function expectToRun(up: Installation, tenant: string, kubeconfig = up.ready.kubeconfigs[tenant]): Promise<void> {
  const cluster: Cluster = await openCluster(kubeconfig ?? '')
  const name = unique('web')
  await expect.poll(() => cluster.find('serviceaccounts', { namespace: 'default', name: 'default' })).toBeDefined()
  await cluster.create(podOf('default', name))
  await cluster.until('pods', { namespace: 'default', name }, isRunning, { timeoutMs: 40_000 })
  await cluster.close()
}
