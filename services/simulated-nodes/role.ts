import { systemClock } from '#libs/kernel'
import type { Clock } from '#libs/kernel'
import { createKubeClient, loadClusterConfig } from '#libs/kube'
import type { KubeClient } from '#libs/kube'
import type { Role } from '#libs/runtime'
import type { Logger } from '#libs/telemetry'
import { simulate } from './simulation.ts'

export type SimulatedNodesOptions = {
  /** Kubeconfig of the host; or give a `client`, which stays the caller's to close. */
  kubeconfigPath?: string
  client?: KubeClient
  /** Number of nodes. */
  nodes: number
  logger: Logger
  /** @default the system's clock */
  clock?: Clock
  /** Time from binding to running, in milliseconds. @default 0 */
  latencyMs?: number
  /** Time a deleted pod takes to end, in milliseconds; its grace period is the limit. @default 100 */
  terminationMs?: number
  /** Time a Job's pod runs, in milliseconds. @default 1000 */
  jobRunMs?: number
  /** Requests under way at once. @default 16 */
  concurrency?: number
  /**
   * Time between two leases of a node, in milliseconds; its status is written every fifth time. Node lifecycle
   * controllers give a node up after 40 s without one. @default 10 000
   */
  heartbeatMs?: number
}

/** The running simulation. */
export type SimulatedNodes = Role & {
  /** Resolves when the nodes are ready and pods are served. */
  ready: Promise<void>
}

/**
 * Plays scheduler and kubelets for a host cluster that has none: pods are bound to fake nodes and report that they run.
 * Nothing is executed. All state is in the cluster, so it can be stopped and started at any time.
 */
export function startSimulatedNodes(options: SimulatedNodesOptions): SimulatedNodes {
  const stop = new AbortController()
  const ready = Promise.withResolvers<void>()
  let missing = ['nodes are not registered yet']
  const done = run(options, stop.signal, () => {
    missing = []
    ready.resolve()
  })
  done.catch((error: unknown) => ready.reject(error))
  // Whoever does not wait for it learns of the failure by `done`.
  ready.promise.catch(() => undefined)
  return {
    name: 'simulated-nodes',
    ready: ready.promise,
    notReady: () => missing,
    done,
    close: async () => {
      stop.abort(new Error('simulated nodes are closed'))
      ready.reject(new Error('simulated nodes were closed before they were ready'))
      await done
    },
  }
}

async function run(options: SimulatedNodesOptions, signal: AbortSignal, onReady: () => void): Promise<void> {
  const clock = options.clock ?? systemClock
  const client = options.client ?? (await openClient(options.kubeconfigPath, clock))
  const { latencyMs = 0, terminationMs = 100, jobRunMs = 1000, concurrency = 16, heartbeatMs = 10_000 } = options
  const settings = { latencyMs, terminationMs, jobRunMs, concurrency, heartbeatMs, nodes: options.nodes }
  try {
    await simulate({ ...settings, client, clock, logger: options.logger, signal, onReady })
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    if (options.client === undefined) await client.close()
  }
}

async function openClient(path: string | undefined, clock: Clock): Promise<KubeClient> {
  const config = await loadClusterConfig({ ...(path === undefined ? {} : { path }), env: process.env, clock })
  return createKubeClient(config, { fieldManager: 'simulated-nodes' })
}
