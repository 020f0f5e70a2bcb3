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
import { claimProblem, claimsOf } from './volume.ts'
import type { Claim, PersistentVolume } from './volume.ts'
import { createMountIndex } from './mount-index.ts'
import { createVolumeProvisioner, ensureStorageClass } from './volume-provisioner.ts'

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
    await ensureStorageClass(options.client, simulation.classes.objects)
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
  classes: Followed
  followed: readonly Followed[]
  /** Begins to act on pods: before the lists are complete, used addresses and present objects are not known. */
  start(): void
  close(): Promise<void>
}

function startFollowing(options: SimulationOptions, signal: AbortSignal): Simulation {
  const { client, clock, logger } = options
  const indexes = new Map(Array.from({ length: options.nodes }, (_, index) => [nodeName(index), index]))
  const waiting = createWaitingIndex()
  const mounting = createMountIndex()
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
      mounting.note(object)
      wake(podKey(object))
      for (const name of claimsOf(object)) wakeClaim(`${object.metadata.namespace ?? ''}/${name}`)
    },
    onRemoved: (pod) => {
      worker.forget(pod)
      waiting.forget(pod)
      mounting.forget(pod)
    },
  })
  const claims = watch('persistentvolumeclaims', {
    onStored: (claim) => {
      wakeClaim(podKey(claim))
      for (const key of mounting.podsFor(podKey(claim))) wake(key)
    },
    onRemoved: (claim) => wakeVolume((claim as Claim).spec?.volumeName),
  })
  const volumes = watch('persistentvolumes', {
    onStored: (volume) => {
      wakeVolume(volume.metadata.name)
      const { namespace, name } = (volume as PersistentVolume).spec?.claimRef ?? {}
      if (name !== undefined) wakeClaim(`${namespace ?? ''}/${name}`)
    },
  })
  const classes = watch('storageclasses.storage.k8s.io', {
    onStored: () => {
      for (const key of claims.objects.keys()) wakeClaim(key)
    },
  })
  const present = { configmaps, secrets }

  const worker = createPodWorker({
    client,
    clock,
    pods: pods.objects,
    nodes: nodes.objects,
    isKnown: (namespace, { resource, name }) => present[resource].objects.has(`${namespace}/${name}`),
    volumeProblem,
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

  const provisioner = createVolumeProvisioner({
    client,
    clock,
    logger,
    claims: claims.objects,
    volumes: volumes.objects,
    classes: classes.objects,
    isUsed: (key) => mounting.podsFor(key).length > 0,
  })

  function volumeProblem(pod: Pod): string | undefined {
    for (const name of claimsOf(pod)) {
      const claim = claims.objects.get(`${pod.metadata.namespace ?? ''}/${name}`) as Claim | undefined
      const storageClass = classes.objects.get(`/${claim?.spec?.storageClassName ?? ''}`)
      const problem = claimProblem(name, claim, storageClass)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  function wakeClaim(key: string): void {
    if (isStarted) provisioner.claim(key)
  }

  function wakeVolume(name: string | undefined): void {
    if (isStarted && name !== undefined && name !== '') provisioner.volume(`/${name}`)
  }

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

  const followed = [nodes, configmaps, secrets, pods, claims, volumes, classes]
  return {
    nodes,
    classes,
    followed,
    start: () => {
      isStarted = true
      for (const key of pods.objects.keys()) wake(key)
      for (const key of claims.objects.keys()) wakeClaim(key)
      for (const key of volumes.objects.keys()) provisioner.volume(key)
    },
    close: async () => {
      await workers.close()
      await provisioner.close()
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
