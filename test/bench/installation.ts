import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Bus, connectBus } from '#libs/bus'
import { CausewayError, systemClock } from '#libs/kernel'
import { type KubeClient, createKubeClient, loadClusterConfig } from '#libs/kube'
import type { BenchOptions } from './options.ts'
import type { Pids } from './processes.ts'

export type Tenant = { name: string; client: KubeClient }

/** A running `causeway up` with simulated nodes beside it, and connections to all that is measured. */
export type Installation = {
  host: KubeClient
  tenants: Tenant[]
  bus: Bus
  /** Every process that takes part, this one as `bench`. */
  pids: Pids
  /** Those of them that are ours or NATS: what the product costs beside the API servers. */
  ownNames: string[]
  close(): Promise<void>
}

/** What `causeway up --json` prints when it is ready. */
type Ready = {
  pid: number
  natsUrl: string
  processes: Record<string, number | undefined>
  kubeconfigs: Record<string, string>
}

/** Pods that one simulated node holds: no scenario has to wait for room. */
const PODS_PER_NODE = 100
const LEAST_NODES = 10

/** As deploy/bin/causeway has them. */
const NODE_FLAGS = ['--max-semi-space-size=16']

const services = fileURLToPath(new URL('../../services/', import.meta.url))

/**
 * Starts everything in a folder of its own. Simulated nodes run as a process of their own, so that what they cost is
 * not counted as ours.
 */
export async function startInstallation(options: BenchOptions): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'))
  const closers: (() => Promise<void>)[] = [() => Promise.resolve(rmSync(folder, { recursive: true, force: true }))]
  const close = async (): Promise<void> => {
    for (const step of closers.splice(0).toReversed()) await step()
  }
  try {
    const up = startNode(options, ['cli/main.ts', 'up', '--json', '--data', folder, ...upFlags(options)])
    closers.push(() => stop(up))
    const ready = JSON.parse(await firstLine(up)) as Ready
    const nodes = startNode(options, [
      'simulated-nodes/main.ts',
      '--nodes',
      String(nodesFor(options)),
      '--kubeconfig',
      ready.kubeconfigs['host'] ?? '',
    ])
    closers.push(() => stop(nodes))
    const connect = async (name: string): Promise<KubeClient> => {
      const path = ready.kubeconfigs[name] ?? ''
      const config = await loadClusterConfig({ path, env: process.env, clock: systemClock })
      const client = createKubeClient(config, { fieldManager: 'bench' })
      closers.push(() => client.close())
      return client
    }
    const bus = await connectBus({ servers: ready.natsUrl, name: 'bench' })
    closers.push(() => bus.close())
    const names = Object.keys(ready.kubeconfigs).filter((name) => name !== 'host')
    const { nats, apiserver, ...roles } = ready.processes
    const own = known({ causeway: ready.pid, nats, ...roles })
    return {
      host: await connect('host'),
      tenants: await Promise.all(names.map(async (name) => ({ name, client: await connect(name) }))),
      bus,
      pids: {
        ...own,
        ...known({ apiserver, 'simulated-nodes': nodes.pid }),
        ...options.processes,
        bench: process.pid,
      },
      ownNames: Object.keys(own),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function nodesFor({ scenarios, embedded, greedyPods, regularPods, tenants }: BenchOptions): number {
  const count = tenants.length === 0 ? embedded : tenants.length
  const pods = scenarios.includes('fairness') ? (count / 5) * greedyPods + count * regularPods * 2 : 0
  return Math.max(LEAST_NODES, Math.ceil(pods / PODS_PER_NODE))
}

function upFlags(options: BenchOptions): string[] {
  const tenants =
    options.tenants.length === 0
      ? Array.from({ length: options.embedded }, (_, index) => `t${index + 1}`)
      : options.tenants.map(({ name, kubeconfig }) => `${name}=${resolve(kubeconfig)}`)
  return [
    '--no-sample',
    '--nodes',
    '0',
    ...(options.separate ? ['--separate'] : []),
    ...(options.hostKubeconfig === undefined ? [] : ['--host-kubeconfig', resolve(options.hostKubeconfig)]),
    ...tenants.flatMap((tenant) => ['--tenant', tenant]),
  ]
}

/** Runs a service on this Node. In a group of its own: signals of the terminal reach it through us, in order. */
function startNode(options: BenchOptions, args: readonly string[]): ChildProcess {
  const [module = '', ...rest] = args
  const profile =
    options.cpuProfDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(options.cpuProfDir)}`]
  if (options.cpuProfDir !== undefined) mkdirSync(options.cpuProfDir, { recursive: true })
  return spawn(process.execPath, [...NODE_FLAGS, ...profile, join(services, module), ...rest], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, CAUSEWAY_LOG_LEVEL: 'warn' },
    detached: true,
  })
}

async function firstLine(child: ChildProcess): Promise<string> {
  const { stdout } = child
  if (stdout === null) throw new CausewayError('the process has no output', { code: 'BenchFailed' })
  return new Promise((done, fail) => {
    createInterface({ input: stdout }).once('line', done)
    child.once('error', fail)
    child.once('exit', (code, signal) =>
      fail(new CausewayError(`causeway up ended at its start (${signal ?? code})`, { code: 'BenchFailed' })),
    )
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise((done) => child.once('exit', done))
  child.kill('SIGTERM')
  await exited
}

function known(pids: Record<string, number | undefined>): Record<string, number> {
  return Object.fromEntries(Object.entries(pids).filter((entry): entry is [string, number] => entry[1] !== undefined))
}
