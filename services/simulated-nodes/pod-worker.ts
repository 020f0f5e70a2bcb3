import { jsonEqual } from '#libs/kernel'
import type { Clock } from '#libs/kernel'
import { RESOURCES } from '#libs/kube-model'
import type { KubeObject } from '#libs/kube-model'
import { isConflict, isNotFound } from '#libs/kube'
import type { KubeClient } from '#libs/kube'
import { createAddressPool } from './address-pool.ts'
import { isFinished } from './pod.ts'
import type { Node, Pod } from './pod.ts'
import { requiredReferences } from './pod-references.ts'
import type { PodReference } from './pod-references.ts'
import { creatingStatus, runningStatus, succeededStatus, unschedulableStatus } from './pod-status.ts'
import type { PodRun } from './pod-status.ts'
import { nextPodStep } from './pod-step.ts'
import { needsPlacement, placePod } from './scheduling.ts'
import type { Placement } from './scheduling.ts'
import { hostAddress } from './simulated-node.ts'

export type PodWorkerOptions = {
  client: KubeClient
  clock: Clock
  pods: ReadonlyMap<string, KubeObject>
  /** The simulated nodes as the cluster has them. */
  nodes: ReadonlyMap<string, KubeObject>
  /** Whether an object is in the cache; when not, the cluster is asked. */
  isKnown: (namespace: string, reference: PodReference) => boolean
  /** Why the pod's volumes keep it from being placed; `undefined` when they do not. */
  volumeProblem: (pod: Pod) => string | undefined
  /** Index of one of our nodes by its name. */
  nodeIndex: (name: string) => number | undefined
  latencyMs: number
  terminationMs: number
  jobRunMs: number
}

/** Scheduler and kubelet of the simulation, one pod at a time. */
export type PodWorker = {
  /** Does the next thing about a pod; returns the milliseconds after which to look again. */
  work(key: string): Promise<number | undefined>
  /** Takes note of a pod's state, for counts and addresses. */
  observe(pod: Pod): void
  /** Frees what a pod had. */
  forget(pod: Pod): void
}

/** Looks again for what a pod waits for; events about it come earlier. */
const MISSING_RETRY_MS = 5000
const UNSCHEDULABLE_RETRY_MS = 30_000

export function createPodWorker(options: PodWorkerOptions): PodWorker {
  const { client, clock } = options
  const addresses = createAddressPool()
  /** Node of each pod by uid, also for bindings whose event is still under way. */
  const placed = new Map<string, string>()
  const podsOnNode = new Map<string, number>()
  /** What this process gave to a pod, so that a late event never makes it give twice. */
  const runs = new Map<string, Partial<PodRun> & { startedMs: number }>()

  function observe(pod: Pod): void {
    if (pod.status?.podIP && !pod.spec?.hostNetwork) addresses.occupy(pod.status.podIP)
    if (isFinished(pod)) place(pod, undefined)
    else if (pod.spec?.nodeName) place(pod, pod.spec.nodeName)
  }

  function forget(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    place(pod, undefined)
    const address = runs.get(uid)?.podIP ?? pod.status?.podIP
    if (address !== undefined) addresses.free(address)
    runs.delete(uid)
  }

  function place(pod: Pod, node: string | undefined): void {
    const uid = pod.metadata.uid ?? ''
    const before = placed.get(uid)
    if (before === node) return
    if (before !== undefined) podsOnNode.set(before, (podsOnNode.get(before) ?? 1) - 1)
    if (node === undefined) placed.delete(uid)
    else {
      placed.set(uid, node)
      podsOnNode.set(node, (podsOnNode.get(node) ?? 0) + 1)
    }
  }

  async function work(key: string): Promise<number | undefined> {
    const pod = options.pods.get(key) as Pod | undefined
    if (pod === undefined) return undefined
    if (needsPlacement(pod)) return placed.has(pod.metadata.uid ?? '') ? undefined : schedule(pod)
    const index = options.nodeIndex(pod.spec?.nodeName ?? '')
    return index === undefined ? undefined : advance(pod, index)
  }

  async function schedule(pod: Pod): Promise<number | undefined> {
    const { namespace = '', name = '', uid = '' } = pod.metadata
    const nodes = [...options.nodes.values()] as Node[]
    const problem = options.volumeProblem(pod)
    const placement: Placement =
      problem === undefined
        ? placePod(pod, nodes, (node) => podsOnNode.get(node) ?? 0)
        : { kind: 'none', message: `0/${String(nodes.length)} nodes are available: ${problem}.` }
    if (placement.kind === 'none') {
      const current = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
      if (current?.message !== placement.message) {
        await patchStatus(pod, unschedulableStatus(pod, placement.message, clock.now()))
      }
      return UNSCHEDULABLE_RETRY_MS
    }
    place(pod, placement.name)
    try {
      await client.bind({ namespace, name, uid }, placement.name)
    } catch (error) {
      place(pod, undefined)
      // Gone, replaced or bound by someone else: its event tells.
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
    return undefined
  }

  async function advance(pod: Pod, index: number): Promise<number | undefined> {
    const { latencyMs, terminationMs, jobRunMs } = options
    const startedMs = startOf(pod).startedMs
    const step = nextPodStep(pod, { nowMs: clock.now(), startedMs, latencyMs, terminationMs, jobRunMs })
    switch (step.kind) {
      case 'none':
        return undefined
      case 'wait':
        return step.ms
      case 'start':
        return start(pod, index)
      case 'succeed':
        await patchStatus(pod, succeededStatus(pod, runOf(pod, index), clock.now()))
        return undefined
      case 'remove':
        await remove(pod)
        return undefined
    }
  }

  async function start(pod: Pod, index: number): Promise<number | undefined> {
    if (!(await hasAllReferences(pod))) {
      const run = { hostIP: hostAddress(index), startedMs: startOf(pod).startedMs }
      const status = creatingStatus(pod, run, clock.now())
      if (!jsonEqual(pod.status?.containerStatuses, status['containerStatuses'])) await patchStatus(pod, status)
      return MISSING_RETRY_MS
    }
    const run = runOf(pod, index)
    await patchStatus(pod, runningStatus(pod, run, clock.now()))
    return undefined
  }

  /** The cache may lag behind the pod: before something counts as missing the cluster itself is asked. */
  async function hasAllReferences(pod: Pod): Promise<boolean> {
    const namespace = pod.metadata.namespace ?? ''
    const missing = requiredReferences(pod).filter((reference) => !options.isKnown(namespace, reference))
    for (const { resource, name } of missing) {
      try {
        await client.get(RESOURCES[resource], { namespace, name })
      } catch (error) {
        if (isNotFound(error)) return false
        throw error
      }
    }
    return true
  }

  function startOf(pod: Pod): Partial<PodRun> & { startedMs: number } {
    const uid = pod.metadata.uid ?? ''
    const known = runs.get(uid)
    if (known !== undefined) return known
    const reported = Date.parse(pod.status?.startTime ?? '')
    const run = { startedMs: Number.isFinite(reported) ? reported : clock.now() }
    runs.set(uid, run)
    return run
  }

  function runOf(pod: Pod, index: number): PodRun {
    const hostIP = hostAddress(index)
    const { startedMs, podIP } = startOf(pod)
    const address = podIP ?? pod.status?.podIP ?? (pod.spec?.hostNetwork ? hostIP : addresses.take(index))
    const run = { startedMs, podIP: address, hostIP }
    runs.set(pod.metadata.uid ?? '', run)
    return run
  }

  async function patchStatus(pod: Pod, status: Record<string, unknown>): Promise<void> {
    const { namespace, name = '', uid } = pod.metadata
    try {
      const body = { metadata: { uid }, status }
      await client.patch(RESOURCES.pods, { namespace, name }, body, { type: 'merge', subresource: 'status' })
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }

  async function remove(pod: Pod): Promise<void> {
    const { namespace, name = '', uid = '' } = pod.metadata
    try {
      await client.delete(RESOURCES.pods, { namespace, name }, { uid, gracePeriodSeconds: 0 })
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }

  return { work, observe, forget }
}
