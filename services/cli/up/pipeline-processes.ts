import { type PipelineConfig, pipelineEnv } from '#libs/config'
import { CausewayError, errorMessage, systemClock } from '#libs/kernel'
import { CloseStack, type Role, openRoleContext, serveHealth } from '#libs/runtime'
import { createLogger } from '#libs/telemetry'
import { PIPELINE_ROLES, startConsole, startPipeline, startSimulatedNodes } from '../compose.ts'
import { type ChildService, startChild } from './child-service.ts'
import type { DataFolder } from './data-folder.ts'

export type SimulatedNodesPlan = { kubeconfig: string; nodes: number }

/** How the console is served; whoever shows the token in the file may act. */
export type ConsolePlan = { port: number; operatorToken?: { file: string; token: string } }

export type PipelineOptions = {
  config: PipelineConfig
  folder: DataFolder
  /** Absent for a host that has nodes of its own. */
  simulated: SimulatedNodesPlan | undefined
  /** Absent where it is not wanted. */
  console: ConsolePlan | undefined
  /** Told, in words, when a process has ended and when it runs again under another pid. */
  onRestart: (what: string) => void
  signal: AbortSignal
}

/** The pipeline's roles, in one process or several. */
export type PipelineProcesses = {
  /** Pids of processes other than this one. */
  pids(): Record<string, number | undefined>
  /** Where `/readyz` and `/metrics` are, by process. */
  healthUrls(): Record<string, string>
  /** What is not ready yet, in words. */
  notReady(): Promise<string[]>
  /** Rejects when a role has failed for good. */
  failed: Promise<never>
  close(): Promise<void>
}

/** How long roles in this process may take to end in order, as long as those in processes of their own. */
const STOP_MS = 15_000

/** Runs all roles in this process, on one connection to the log. */
export async function startInProcess(options: PipelineOptions): Promise<PipelineProcesses> {
  const { config, simulated, signal, console } = options
  const stack = new CloseStack()
  try {
    const logger = createLogger({ service: 'causeway', ...config.log })
    const context = await openRoleContext(config, { name: 'causeway', logger, signal })
    stack.push(() => context.close())
    const roles: Role[] = await startPipeline(context)
    if (simulated !== undefined) {
      const { kubeconfig, nodes } = simulated
      const component = logger.child({ component: 'simulated-nodes' })
      roles.push(startSimulatedNodes({ kubeconfigPath: kubeconfig, nodes, logger: component }))
    }
    if (console !== undefined) {
      const { port, operatorToken } = console
      const token = operatorToken === undefined ? {} : { operatorToken: operatorToken.token }
      roles.push(await startConsole(context, { host: '127.0.0.1', port, ...token }))
    }
    stack.push(() => closeRoles(roles))
    const health = await serveHealth({ ...config.http, roles: () => roles, metrics: () => context.metrics.metrics() })
    stack.push(() => health.close())
    const failure = Promise.withResolvers<never>()
    failure.promise.catch(() => undefined)
    for (const role of roles) {
      role.done.catch((error: unknown) => {
        const message = `${role.name} failed: ${errorMessage(error)}`
        failure.reject(new CausewayError(message, { code: 'RoleFailed', cause: error }))
      })
    }
    return {
      pids: () => ({}),
      healthUrls: () => ({ causeway: health.url }),
      notReady: () => Promise.resolve(roles.flatMap((role) => role.notReady().map((why) => `${role.name}: ${why}`))),
      failed: failure.promise,
      close: () => stack.close(),
    }
  } catch (error) {
    await stack.close()
    throw error
  }
}

/** Ends roles; what they wait for may never come, as where the log is gone, and nothing is lost by leaving them. */
async function closeRoles(roles: readonly Role[]): Promise<void> {
  const closing = Promise.all(roles.map((role) => role.close()))
  const late = new AbortController()
  try {
    await Promise.race([closing, systemClock.sleep(STOP_MS, late.signal)])
  } finally {
    late.abort()
    closing.catch(() => undefined)
  }
}

/** Runs each role in a process of its own, started again when it dies. */
export async function startSeparately(options: PipelineOptions): Promise<PipelineProcesses> {
  const { config, folder, simulated, onRestart, console } = options
  const children = new Map<string, ChildService>()
  // At once: one that cannot end in order, as with a log that is gone, takes its time beside the others'.
  const close = async (): Promise<void> => {
    await Promise.all([...children.values()].map((child) => child.stop()))
  }
  const modules: [name: string, args: string[]][] = Object.keys(PIPELINE_ROLES).map((name) => [name, []])
  if (simulated !== undefined) {
    modules.push(['simulated-nodes', ['--kubeconfig', simulated.kubeconfig, '--nodes', String(simulated.nodes)]])
  }
  if (console !== undefined) {
    const { port, operatorToken } = console
    const token = operatorToken === undefined ? [] : ['--token-file', operatorToken.file]
    modules.push(['console', ['--port', String(port), ...token]])
  }
  try {
    for (const [name, args] of modules) {
      const logFile = folder.path('logs', `${name}.log`)
      const child = await startChild({
        name,
        module: `${name}/main.ts`,
        args,
        env: pipelineEnv({ ...config, log: { level: config.log.level } }),
        logFile,
        clock: systemClock,
        onRestart,
      })
      children.set(name, child)
    }
  } catch (error) {
    await close()
    throw error
  }
  return {
    pids: () => Object.fromEntries([...children].map(([name, child]) => [name, child.pid])),
    healthUrls: () =>
      Object.fromEntries(
        [...children].flatMap(([name, { healthUrl }]) => (healthUrl === undefined ? [] : [[name, healthUrl]])),
      ),
    notReady: async () => (await Promise.all([...children].map(([name, child]) => notReadyOf(name, child)))).flat(),
    failed: Promise.withResolvers<never>().promise,
    close,
  }
}

async function notReadyOf(name: string, child: ChildService): Promise<string[]> {
  if (child.healthUrl === undefined) return [`${name}: starting`]
  try {
    const response = await fetch(`${child.healthUrl}/readyz`)
    const text = await response.text()
    return response.ok ? [] : text.trim().split('\n')
  } catch (error) {
    return [`${name}: does not answer (${errorMessage(error)})`]
  }
}
