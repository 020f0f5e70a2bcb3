import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Bus, connectBus } from '#libs/bus'
import { systemClock } from '#libs/kernel'
import { type KubeClient, createKubeClient, loadClusterConfig } from '#libs/kube'
import { CloseStack } from '#libs/runtime'
import { firstLine, startNode, stop } from './launch.ts'
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
  /** Where `/metrics` are. */
  healthUrls: string[]
  close(): Promise<void>
}

/** What an installation is made for. */
export type Setup = {
  /** Embedded tenants, where none are given. */
  embedded: number
  /** Pods that run at once at most; 0: nodes are there already. */
  pods: number
  /** Folder of its data, which stays. @default one of its own, which goes with it */
  data?: string
  /** Further environment of Causeway's processes. */
  env?: Record<string, string>
}

type SetupOptions = Pick<BenchOptions, 'separate' | 'hostKubeconfig' | 'tenants' | 'processes' | 'cpuProfDir'>

/** What `causeway up --json` prints when it is ready. */
type Ready = {
  pid: number
  natsUrl: string
  processes: Record<string, number | undefined>
  kubeconfigs: Record<string, string>
  health: Record<string, string>
}

/** Pods that one simulated node holds: no scenario has to wait for room. */
const PODS_PER_NODE = 100
const LEAST_NODES = 10

/**
 * Starts everything. Simulated nodes run as a process of their own, so that what they cost is not counted as ours.
 * @throws CausewayError `BenchFailed` when something does not start
 */
export async function startInstallation(options: SetupOptions, setup: Setup): Promise<Installation> {
  const stack = new CloseStack()
  try {
    const folder = setup.data ?? newFolder(stack)
    const { cpuProfDir } = options
    const up = startNode('cli/main.ts', ['up', '--json', '--data', folder, ...upFlags(options, setup)], {
      cpuProfDir,
      env: setup.env,
    })
    stack.push(() => stop(up))
    const ready = JSON.parse(await firstLine(up)) as Ready
    const nodes =
      setup.pods === 0 ? {} : startNodes(stack, { ...options, setup, host: ready.kubeconfigs['host'] ?? '' })
    const bus = await connectBus({ servers: ready.natsUrl, name: 'bench' })
    stack.push(() => bus.close())
    const connected = (name: string): Promise<KubeClient> => connect(stack, ready.kubeconfigs[name] ?? '')
    const names = Object.keys(ready.kubeconfigs).filter((name) => name !== 'host')
    const { nats, apiserver, ...roles } = ready.processes
    const own = known({ causeway: ready.pid, nats, ...roles })
    return {
      host: await connected('host'),
      tenants: await Promise.all(names.map(async (name) => ({ name, client: await connected(name) }))),
      bus,
      pids: { ...own, ...known({ apiserver, ...nodes }), ...options.processes, bench: process.pid },
      ownNames: Object.keys(own),
      healthUrls: Object.values(ready.health),
      close: () => stack.close(),
    }
  } catch (error) {
    await stack.close()
    throw error
  }
}

/** A folder that goes when all else has been closed. */
export function newFolder(stack: CloseStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'))
  stack.push(() => Promise.resolve(rmSync(folder, { recursive: true, force: true, maxRetries: 5 })))
  return folder
}

/** A client of a cluster, closed with the stack. */
export async function connect(stack: CloseStack, kubeconfig: string): Promise<KubeClient> {
  const config = await loadClusterConfig({ path: kubeconfig, env: process.env, clock: systemClock })
  const client = createKubeClient(config, { fieldManager: 'bench' })
  stack.push(() => client.close())
  return client
}

/** Simulated nodes with room for the pods. @returns their process */
export function startNodes(
  stack: CloseStack,
  of: { host: string; setup: Pick<Setup, 'pods'>; cpuProfDir: string | undefined },
): { 'simulated-nodes': number | undefined } {
  const count = Math.max(LEAST_NODES, Math.ceil(of.setup.pods / PODS_PER_NODE))
  const args = ['--nodes', String(count), '--kubeconfig', of.host]
  const nodes = startNode('simulated-nodes/main.ts', args, of)
  stack.push(() => stop(nodes))
  return { 'simulated-nodes': nodes.pid }
}

function upFlags({ tenants, separate, hostKubeconfig }: SetupOptions, { embedded }: Setup): string[] {
  const named =
    tenants.length === 0
      ? Array.from({ length: embedded }, (_, index) => `t${index + 1}`)
      : tenants.map(({ name, kubeconfig }) => `${name}=${resolve(kubeconfig)}`)
  return [
    '--no-sample',
    '--no-console',
    '--nodes',
    '0',
    ...(separate ? ['--separate'] : []),
    ...(hostKubeconfig === undefined ? [] : ['--host-kubeconfig', resolve(hostKubeconfig)]),
    ...named.flatMap((tenant) => ['--tenant', tenant]),
  ]
}

function known(pids: Record<string, number | undefined>): Record<string, number> {
  return Object.fromEntries(Object.entries(pids).filter((entry): entry is [string, number] => entry[1] !== undefined))
}
