import type { KubeObject } from '#libs/kube-model'
import { podCidr } from './address-pool.ts'
import { toTimestamp } from './pod.ts'
import type { Condition, Node } from './pod.ts'

/** Label and annotation that say that no machine is behind a node. */
export const SIMULATED = 'causeway.dev/simulated'
const ZONES = ['zone-a', 'zone-b', 'zone-c']
const RESOURCES = { cpu: '64', memory: '256Gi', 'ephemeral-storage': '512Gi', pods: '1000' }

export function nodeName(index: number): string {
  return `simulated-node-${String(index)}`
}

/** The node as it is created; servers take the status by a second write. */
export function simulatedNode(index: number): Node {
  const name = nodeName(index)
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/os': 'linux',
        'topology.kubernetes.io/region': 'simulated',
        'topology.kubernetes.io/zone': ZONES[index % ZONES.length] ?? 'zone-a',
        [SIMULATED]: 'true',
      },
      annotations: { [SIMULATED]: 'true' },
    },
    spec: { podCIDR: podCidr(index), podCIDRs: [podCidr(index)], providerID: `simulated://${name}` } as Node['spec'] &
      object,
  }
}

/** Address of the node's kubelet, were there one. */
export function hostAddress(index: number): string {
  return `10.0.${String(Math.floor(index / 250))}.${String((index % 250) + 1)}`
}

/** The node's status at this time; transition times of conditions are kept. */
export function nodeStatus(index: number, node: Node | undefined, nowMs: number): Record<string, unknown> {
  return {
    capacity: RESOURCES,
    allocatable: RESOURCES,
    phase: 'Running',
    conditions: nodeConditions(node?.status?.conditions ?? [], nowMs),
    addresses: [
      { type: 'InternalIP', address: hostAddress(index) },
      { type: 'Hostname', address: nodeName(index) },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      architecture: 'amd64',
      bootID: '',
      containerRuntimeVersion: 'simulated://0',
      kernelVersion: 'simulated',
      kubeProxyVersion: '',
      kubeletVersion: 'v0.0.0-simulated',
      machineID: '',
      operatingSystem: 'linux',
      osImage: 'Simulated by Causeway',
      systemUUID: '',
    },
  }
}

function nodeConditions(current: readonly Condition[], nowMs: number): unknown[] {
  const now = toTimestamp(nowMs)
  const condition = (type: string, status: 'True' | 'False', [reason, message]: [string, string]): unknown => {
    const before = current.find((entry) => entry.type === type)
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now
    return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime }
  }
  return [
    condition('MemoryPressure', 'False', ['KubeletHasSufficientMemory', 'simulated node has sufficient memory']),
    condition('DiskPressure', 'False', ['KubeletHasNoDiskPressure', 'simulated node has no disk pressure']),
    condition('PIDPressure', 'False', ['KubeletHasSufficientPID', 'simulated node has sufficient PIDs']),
    condition('Ready', 'True', ['KubeletReady', 'simulated node is posting ready status']),
  ]
}

/** The lease by which a node says that it lives. */
export function nodeLease(index: number, nowMs: number): KubeObject {
  const name = nodeName(index)
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'kube-node-lease' },
    spec: {
      holderIdentity: name,
      leaseDurationSeconds: 40,
      renewTime: `${new Date(nowMs).toISOString().slice(0, -1)}000Z`,
    },
  }
}
