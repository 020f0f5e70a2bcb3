import { errorMessage } from '#libs/kernel'
import type { Clock } from '#libs/kernel'
import { RESOURCES } from '#libs/kube-model'
import type { KubeObject } from '#libs/kube-model'
import type { KubeClient } from '#libs/kube'
import type { Logger } from '#libs/telemetry'
import { follow } from './follow.ts'
import type { Followed } from './follow.ts'
import { createKeyedWorkers } from './keyed-workers.ts'
import { keepNodesAlive, registerNodes } from './node-keeper.ts'
import { podKey } from './pod.ts'
import type { Pod } from './pod.ts'
import { requiredReferences } from './pod-references.ts'
import { createPodWorker } from './pod-worker.ts'
import { needsPlacement } from './scheduling.ts'
import { SIMULATED, nodeName } from './simulated-node.ts'

/** Everything the simulation needs, with its defaults applied; see SimulatedNodesOptions. */
export type SimulationOptions = {
  client: KubeClient
  clock: Clock
  logger: Logger
  nodes: number
  latencyMs: number
  terminationMs: number
  jobRunMs: number
  concurrency: number
  heartbeatMs: number
  signal: AbortSignal
  onReady: () => void
}

/** Runs until the signal aborts; rejects then with its reason, or earlier when the simulation itself fails. */
export async function simulate(options: SimulationOptions): Promise<void> {
  const stop = new AbortController()
  const signal = AbortSignal.any([options.signal, stop.signal])
  const simulation = startFollowing(options, signal)
  const failed = Promise.race(simulation.followed.map(({ done }) => done))
  const live = async (): Promise<void> => {
    await registerNodes(options, signal)
    await Promise.all(simulation.followed.map(({ synced }) => synced))
    simulation.start()
    options.logger.info({ nodes: options.nodes }, 'simulated nodes are ready')
    options.onReady()
    await keepNodesAlive(options, simulation.nodes, signal)
  }
  const living = live()
  try {
    await Promise.race([living, failed])
  } finally {
    stop.abort(new Error('simulation has ended'))
    living.catch(() => undefined)
    await simulation.close()
  }
}

type Simulation = {
  nodes: Followed
  followed: readonly Followed[]
  /** Begins to act on pods: before the lists are complete, used addresses and present objects are not known. */
  start(): void
  close(): Promise<void>
}

function startFollowing(options: SimulationOptions, signal: AbortSignal): Simulation {
  const { client, clock, logger } = options
  const indexes = new Map(Array.from({ length: options.nodes }, (_, index) => [nodeName(index), index]))
  const waiting = createWaitingIndex()
  let isStarted = false

  const watch = (resource: keyof typeof RESOURCES, handlers: Handlers): Followed =>
    follow({
      client,
      clock,
      random: Math.random,
      signal,
      resource: RESOURCES[resource],
      onState: (state, message) => logger.debug({ resource, state, message }, 'watch changed state'),
      onRemoved: () => undefined,
      ...handlers,
    })

  const nodes = watch('nodes', {
    labelSelector: `${SIMULATED}=true`,
    onStored: (node, previous) => {
      if (previous === undefined || hasOtherTraits(node, previous)) wakeUnplaced()
    },
  })
  const configmaps = watch('configmaps', { onStored: (object) => wakeWaiting('configmaps', object) })
  const secrets = watch('secrets', { onStored: (object) => wakeWaiting('secrets', object) })
  const pods = watch('pods', {
    onStored: (object) => {
      worker.observe(object)
      waiting.note(object)
      wake(podKey(object))
    },
    onRemoved: (pod) => {
      worker.forget(pod)
      waiting.forget(pod)
    },
  })
  const present = { configmaps, secrets }

  const worker = createPodWorker({
    client,
    clock,
    pods: pods.objects,
    nodes: nodes.objects,
    isKnown: (namespace, { resource, name }) => present[resource].objects.has(`${namespace}/${name}`),
    nodeIndex: (name) => indexes.get(name),
    latencyMs: options.latencyMs,
    terminationMs: options.terminationMs,
    jobRunMs: options.jobRunMs,
  })
  const workers = createKeyedWorkers({
    work: (key) => worker.work(key),
    concurrency: options.concurrency,
    clock,
    random: Math.random,
    onError: (key, error) => logger.warn({ key, err: errorMessage(error) }, 'pod step failed'),
  })

  function wake(key: string): void {
    if (isStarted) workers.add(key)
  }

  function wakeWaiting(resource: string, object: KubeObject): void {
    for (const key of waiting.podsFor(resource, object)) wake(key)
  }

  function wakeUnplaced(): void {
    if (!isStarted) return
    for (const [key, pod] of pods.objects) if (needsPlacement(pod)) wake(key)
  }

  const followed = [nodes, configmaps, secrets, pods]
  return {
    nodes,
    followed,
    start: () => {
      isStarted = true
      for (const key of pods.objects.keys()) wake(key)
    },
    close: async () => {
      await workers.close()
      await Promise.allSettled(followed.map(({ done }) => done))
    },
  }
}

type Handlers = Pick<Parameters<typeof follow>[0], 'onStored'> &
  Partial<Pick<Parameters<typeof follow>[0], 'onRemoved' | 'labelSelector'>>

/** Pods that have not started, by the ConfigMaps and Secrets they need. */
function createWaitingIndex(): {
  note(pod: Pod): void
  forget(pod: Pod): void
  podsFor(resource: string, object: KubeObject): Iterable<string>
} {
  const index = new Map<string, Set<string>>()
  const keysOf = (pod: Pod): string[] =>
    requiredReferences(pod).map(({ resource, name }) => `${resource}/${pod.metadata.namespace ?? ''}/${name}`)

  function forget(pod: Pod): void {
    for (const key of keysOf(pod)) {
      const pods = index.get(key)
      if (pods?.delete(podKey(pod)) && pods.size === 0) index.delete(key)
    }
  }

  return {
    forget,
    note: (pod) => {
      if ((pod.status?.phase ?? 'Pending') !== 'Pending') return forget(pod)
      for (const key of keysOf(pod)) index.set(key, (index.get(key) ?? new Set()).add(podKey(pod)))
    },
    podsFor: (resource, object) => index.get(`${resource}/${podKey(object)}`) ?? [],
  }
}

/** Whether scheduling may see the node with other eyes. */
function hasOtherTraits(node: KubeObject, previous: KubeObject): boolean {
  const traits = ({ metadata, spec }: KubeObject): string => JSON.stringify([metadata.labels, spec])
  return traits(node) !== traits(previous)
}
