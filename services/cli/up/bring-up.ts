import { type Bus, connectBus, ensureStreams } from '#libs/bus'
import { type PipelineConfig, parsePipelineConfig } from '#libs/config'
import { streamDeclarations } from '#libs/events'
import { errorMessage, systemClock } from '#libs/kernel'
import { type KubeClient, createKubeClient, loadClusterConfig } from '#libs/kube'
import { CloseStack, type TenantEntry, agreeOnInstallation } from '#libs/runtime'
import { type ChildService, startChild } from './child-service.ts'
import type { DataFolder, RunningInfo } from './data-folder.ts'
import { choosePort } from './free-port.ts'
import { startNatsProcess } from './nats-process.ts'
import {
  type ConsolePlan,
  type PipelineProcesses,
  type SimulatedNodesPlan,
  startInProcess,
  startSeparately,
} from './pipeline-processes.ts'
import { HOST_CLUSTER, type UpPlan } from './plan.ts'
import { registerAll } from './register.ts'

export type BringUpOptions = {
  plan: UpPlan
  /** Whether the plan's tenants were asked for, rather than the default ones of a first start. */
  explicit: boolean
  folder: DataFolder
  /** Whether watcher, translator and writer are processes of their own. */
  separate: boolean
  simulatedNodes: number
  partitions: number
  logLevel: string
  natsPort?: number | undefined
  apiserverPort?: number | undefined
  /** Absent where it is not wanted. */
  console?: { port?: number | undefined; operatorToken?: ConsolePlan['operatorToken'] } | undefined
  /** Told of each step and of restarts, for people. */
  progress: (step: string) => void
  signal: AbortSignal
}

/** Everything that is up. */
export type Up = {
  bus: Bus
  tenants: TenantEntry[]
  hostClient: KubeClient
  pipeline: PipelineProcesses
  info(): RunningInfo
  /** Stops everything, in the reverse order of its start. */
  close(): Promise<void>
}

/**
 * Starts what the plan asks for and keeps it running.
 * @throws CausewayError naming what could not be started; everything started before is stopped again
 */
export async function bringUp(options: BringUpOptions): Promise<Up> {
  options.folder.claim()
  const stack = new CloseStack()
  stack.push(() => Promise.resolve(options.folder.release()))
  try {
    return await bringUpOn(stack, options)
  } catch (error) {
    await stack.close()
    throw error
  }
}

/** Settings that have no flag: they are for special cases. */
const PASSED_ON = /^CAUSEWAY_(DELETIONS|LEASE|PATROL|VERIFY|TRACE)_/

function passedOn(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => PASSED_ON.test(name)))
}

async function bringUpOn(stack: CloseStack, options: BringUpOptions): Promise<Up> {
  const { plan, folder, progress, signal } = options
  const last = folder.ports()
  // Set once all is up: before that there is nothing to store.
  let storeRunning = (): void => undefined
  const onRestart = (what: string): void => {
    progress(what)
    storeRunning()
  }

  progress('starting NATS with JetStream')
  const natsPort = await choosePort({ flag: '--nats-port', asked: options.natsPort, last: last.nats })
  const nats = await startNatsProcess({
    dataDir: folder.path('nats'),
    port: natsPort,
    clock: systemClock,
    onRestart,
  })
  stack.push(() => nats.stop())

  const apiserver = await startApiserver(options, { lastPort: last.apiserver, onRestart })
  if (apiserver !== undefined) stack.push(() => apiserver.child.stop())
  const console = await planConsole(options, last.console)
  folder.storePorts({
    ...last,
    nats: natsPort,
    ...(apiserver === undefined ? {} : { apiserver: apiserver.port }),
    ...(console === undefined ? {} : { console: console.port }),
  })

  const config: PipelineConfig = {
    ...parsePipelineConfig(passedOn(process.env)),
    natsUrl: nats.url,
    partitions: options.partitions,
    dataDir: folder.path('services'),
    keyRingFile: folder.path('keys.json'),
    log: { level: options.logLevel, file: folder.path('logs', 'causeway.log') },
  }
  const bus = await connectBus({ servers: nats.url, name: 'cli', signal })
  stack.push(() => bus.close())
  await agreeOnInstallation(bus, config)
  await ensureStreams(bus, streamDeclarations({ replicas: config.replicas }))

  const hostKubeconfig = plan.hostKubeconfig ?? folder.kubeconfig(HOST_CLUSTER)
  const hostConfig = await loadClusterConfig({ path: hostKubeconfig, env: process.env, clock: systemClock })
  const hostClient = createKubeClient(hostConfig)
  stack.push(() => hostClient.close())
  progress('registering host and tenants')
  const tenants = await registerAll({ ...options, bus, replicas: config.replicas, hostClient, hostKubeconfig })

  for (const tenant of tenants) {
    // One tenant's broken credentials keep nobody else waiting; it is served once they can be read.
    await loadClusterConfig({ path: tenant.kubeconfig, env: process.env, clock: systemClock }).catch(
      (error: unknown) => {
        progress(`tenant ${tenant.name} cannot be served yet: ${errorMessage(error)}`)
      },
    )
  }

  const simulated: SimulatedNodesPlan | undefined =
    plan.hostKubeconfig === undefined && options.simulatedNodes > 0
      ? { kubeconfig: hostKubeconfig, nodes: options.simulatedNodes }
      : undefined
  const start = options.separate ? startSeparately : startInProcess
  progress(`starting watcher, translator, writer${options.separate ? ', each a process of its own' : ''}`)
  const pipeline = await start({ config, folder, simulated, console, onRestart, signal })
  stack.push(() => pipeline.close())

  const info = (): RunningInfo => ({
    pid: process.pid,
    natsUrl: nats.url,
    hostKubeconfig,
    replicas: config.replicas,
    partitions: config.partitions,
    ...(apiserver === undefined ? {} : { apiserverUrl: apiserver.url }),
    ...(console === undefined ? {} : { consoleUrl: `http://127.0.0.1:${console.port}` }),
    processes: {
      nats: nats.pid,
      ...(apiserver === undefined ? {} : { apiserver: apiserver.child.pid }),
      ...pipeline.pids(),
    },
  })
  storeRunning = () => folder.storeRunning(info())
  storeRunning()
  return { bus, tenants, hostClient, pipeline, info, close: () => stack.close() }
}

/** Where the console will be: at the address that it had last, so that an open page goes on. */
async function planConsole(options: BringUpOptions, last: number | undefined): Promise<ConsolePlan | undefined> {
  if (options.console === undefined) return undefined
  const { port: asked, operatorToken } = options.console
  const port = await choosePort({ flag: '--console-port', asked, last })
  return { port, ...(operatorToken === undefined ? {} : { operatorToken }) }
}

/** The embedded clusters, if the plan has any: in a process of their own, as real ones would be. */
async function startApiserver(
  options: BringUpOptions,
  { lastPort, onRestart }: { lastPort: number | undefined; onRestart: (what: string) => void },
): Promise<{ child: ChildService; port: number; url: string } | undefined> {
  const { plan, folder, progress } = options
  const embedded = plan.tenants.filter((tenant) => tenant.kubeconfig === undefined)
  if (plan.hostKubeconfig !== undefined && embedded.length === 0) return undefined
  progress('starting the embedded API server')
  const port = await choosePort({ flag: '--apiserver-port', asked: options.apiserverPort, last: lastPort })
  const isFirstStart = folder.embeddedClusters().length === 0
  const tenants = options.explicit || isFirstStart ? embedded.map((tenant) => `${tenant.name}:open`) : []
  const clusters = [...(plan.hostKubeconfig === undefined ? [HOST_CLUSTER] : []), ...tenants]
  const child = await startChild({
    name: 'apiserver',
    module: 'apiserver/main.ts',
    args: ['--data-dir', folder.apiserver, '--port', String(port), '--clusters', clusters.join(',')],
    logFile: folder.path('logs', 'apiserver.log'),
    readyLine: true,
    clock: systemClock,
    onRestart,
  })
  return { child, port, url: `https://127.0.0.1:${port}` }
}
