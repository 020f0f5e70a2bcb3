import { errorMessage } from '#libs/kernel'
import type { Clock } from '#libs/kernel'
import { RESOURCES } from '#libs/kube-model'
import type { ResourceInfo } from '#libs/kube-model'
import { isAlreadyExists, isNotFound } from '#libs/kube'
import type { KubeClient } from '#libs/kube'
import type { Logger } from '#libs/telemetry'
import type { Followed } from './follow.ts'
import type { Node } from './pod.ts'
import { nodeLease, nodeName, nodeStatus, simulatedNode } from './simulated-node.ts'

const LEASES: ResourceInfo = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
}

/** Makes the node, or takes over the one of an earlier process, and reports it ready. */
async function registerNode(client: KubeClient, index: number, clock: Clock): Promise<void> {
  let node: Node | undefined
  try {
    node = await client.create(RESOURCES.nodes, {}, simulatedNode(index))
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    node = await client.get(RESOURCES.nodes, { name: nodeName(index) })
  }
  await reportNode(client, { index, node, clock })
  await admitPods(client, node)
  await renewLease(client, index, clock)
}

/** API servers taint new nodes until the controller that a host without nodes lacks sees them ready. */
async function admitPods(client: KubeClient, node: Node): Promise<void> {
  const taints = node.spec?.taints ?? []
  const kept = taints.filter(({ key }) => key !== 'node.kubernetes.io/not-ready')
  if (kept.length === taints.length) return
  const spec = { taints: kept.length === 0 ? null : kept }
  await client.patch(RESOURCES.nodes, { name: node.metadata.name ?? '' }, { spec }, { type: 'merge' })
}

/** Writes the node's status with the current time. */
async function reportNode(
  client: KubeClient,
  { index, node, clock }: { index: number; node: Node | undefined; clock: Clock },
): Promise<void> {
  const status = nodeStatus(index, node, clock.now())
  await client.patch(RESOURCES.nodes, { name: nodeName(index) }, { status }, { type: 'merge', subresource: 'status' })
}

/** False after a controller has given the node up: only a written status takes that back. */
function isReady(node: Node): boolean {
  return node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

/** Renews the node's lease, or makes it; clusters without the namespace of leases have none. */
async function renewLease(client: KubeClient, index: number, clock: Clock): Promise<void> {
  const lease = nodeLease(index, clock.now())
  const target = { namespace: lease.metadata.namespace, name: nodeName(index) }
  try {
    await client.patch(LEASES, target, { spec: lease['spec'] }, { type: 'merge' })
  } catch (error) {
    if (!isNotFound(error)) throw error
    await client.create(LEASES, target, lease).catch((failure: unknown) => {
      if (!isNotFound(failure) && !isAlreadyExists(failure)) throw failure
    })
  }
}

type KeeperOptions = { client: KubeClient; clock: Clock; logger: Logger; nodes: number; heartbeatMs: number }

/** Registers all nodes. The host may still be starting: each is tried again until it works or the signal aborts. */
export async function registerNodes(options: KeeperOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, logger, nodes } = options
  const register = async (index: number): Promise<void> => {
    for (;;) {
      try {
        await registerNode(client, index, clock)
        return
      } catch (error) {
        signal.throwIfAborted()
        logger.warn({ node: nodeName(index), err: errorMessage(error) }, 'node could not be registered')
        await clock.sleep(1000, signal)
      }
    }
  }
  await Promise.all(Array.from({ length: nodes }, (_, index) => register(index)))
}

/**
 * Keeps leases and, with every fifth beat or when a controller has given the node up, the status of the nodes fresh
 * until the signal aborts; a node that was deleted is made again.
 */
export async function keepNodesAlive(options: KeeperOptions, nodes: Followed, signal: AbortSignal): Promise<void> {
  const { client, clock, logger } = options
  for (let beat = 1; ; beat++) {
    await clock.sleep(options.heartbeatMs, signal)
    for (let index = 0; index < options.nodes; index++) {
      const node = nodes.objects.get(`/${nodeName(index)}`)
      try {
        if (node === undefined) await registerNode(client, index, clock)
        else if (beat % 5 === 0 || !isReady(node)) await reportNode(client, { index, node, clock })
        await renewLease(client, index, clock)
      } catch (error) {
        signal.throwIfAborted()
        logger.warn({ node: nodeName(index), err: errorMessage(error) }, 'heartbeat failed')
      }
    }
  }
}
