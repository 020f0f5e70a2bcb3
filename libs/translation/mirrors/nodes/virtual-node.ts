import { cloneJson } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import type { TenantConfig } from '#libs/sync-config'
import { asObject, objectsIn, presentFields, textOf } from '../../json.ts'
import { mirroredLabels } from '../../metadata.ts'
import { LABELS } from '../../stamps.ts'

/** Labels of a host node that say what workloads ask for: platform and place. */
const PLACE_LABELS = [
  'kubernetes.io/arch',
  'kubernetes.io/os',
  'kubernetes.io/hostname',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
]

/** Taints by which a cluster's own controllers say how a node is: each cluster sets them from the node's conditions. */
const CONDITION_TAINTS = 'node.kubernetes.io/'

/** The labels of a tenant's copy of a node: those of platform and place, or all where the tenant sees real nodes. */
export function nodeLabels(name: string, host: KubeObject | undefined, config: TenantConfig): Record<string, string> {
  const labels = host === undefined ? {} : mirroredLabels(host)
  const mirrored = config.sync.fromHost.nodes.enabled
    ? labels
    : Object.fromEntries(Object.entries(labels).filter(([key]) => PLACE_LABELS.includes(key)))
  return { 'kubernetes.io/hostname': name, ...mirrored, [LABELS.virtualNode]: 'true' }
}

/** What of a real node's spec the tenant's scheduling goes by; nothing where the tenant does not see real nodes. */
export function nodeSpec(host: KubeObject | undefined, config: TenantConfig): JsonObject {
  if (!config.sync.fromHost.nodes.enabled || host === undefined) return {}
  const { unschedulable } = asObject(host.spec) ?? {}
  const taints = lastingTaints(host)
  return presentFields({ unschedulable, taints: taints.length === 0 ? undefined : taints }) ?? {}
}

/** The taints of a node that somebody has put there, without those that follow from its conditions. */
export function lastingTaints(node: KubeObject | undefined): JsonObject[] {
  const taints = objectsIn(asObject(node?.spec)?.taints)
  return cloneJson(taints.filter(({ key }) => !textOf(key).startsWith(CONDITION_TAINTS)))
}

/**
 * The status of a tenant's copy of a node. A host node that is not known, because it was not seen yet or may not be
 * read, is taken to be ready: a pod runs on it.
 */
export function nodeStatus(name: string, host: KubeObject | undefined, config: TenantConfig): JsonObject {
  const status = asObject(host?.status) ?? {}
  const { enabled, clearImageStatus } = config.sync.fromHost.nodes
  const addresses = objectsIn(status.addresses).filter(({ type }) => type === 'InternalIP')
  const conditions = objectsIn(status.conditions)
  return (
    presentFields({
      capacity: cloneJson(status.capacity),
      allocatable: cloneJson(status.allocatable),
      addresses: [...cloneJson(addresses), { type: 'Hostname', address: name }],
      conditions: conditions.length === 0 ? [READY] : cloneJson(conditions),
      nodeInfo: cloneJson(status.nodeInfo),
      images: enabled && !clearImageStatus ? cloneJson(status.images) : undefined,
    }) ?? {}
  )
}

const READY: JsonObject = {
  type: 'Ready',
  status: 'True',
  reason: 'KubeletReady',
  message: 'the host cluster runs pods on this node',
}

/** What of a node's status a tenant acts on: without heartbeats, which change all the time and mean nothing here. */
export function materialStatus(status: JsonObject): JsonObject {
  const conditions = objectsIn(status.conditions).map(({ type, status: value, reason }) => [
    textOf(type),
    [value ?? null, reason ?? null],
  ])
  return { ...status, conditions: Object.fromEntries(conditions) as JsonObject }
}
