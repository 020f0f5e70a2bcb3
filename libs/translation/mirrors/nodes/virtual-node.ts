import { cloneJson } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asObject, objectsIn, presentFields, stringMap, textOf } from '../../json.ts'
import { LABELS } from '../../stamps.ts'

/** Labels of a host node that say what workloads ask for: platform and place. */
const MIRRORED_LABELS = [
  'kubernetes.io/arch',
  'kubernetes.io/os',
  'kubernetes.io/hostname',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
]

/** The labels of a tenant's copy of a node. */
export function nodeLabels(name: string, host: KubeObject | undefined): Record<string, string> {
  const labels = stringMap(host?.metadata.labels)
  const mirrored = MIRRORED_LABELS.flatMap((key) => (labels[key] === undefined ? [] : [[key, labels[key]]]))
  return { 'kubernetes.io/hostname': name, ...Object.fromEntries(mirrored), [LABELS.virtualNode]: 'true' }
}

/**
 * The status of a tenant's copy of a node. A host node that is not known, because it was not seen yet or may not be
 * read, is taken to be ready: a pod runs on it.
 */
export function nodeStatus(name: string, host: KubeObject | undefined): JsonObject {
  const status = asObject(host?.status) ?? {}
  const addresses = objectsIn(status.addresses).filter(({ type }) => type === 'InternalIP')
  const conditions = objectsIn(status.conditions)
  return (
    presentFields({
      capacity: cloneJson(status.capacity),
      allocatable: cloneJson(status.allocatable),
      addresses: [...cloneJson(addresses), { type: 'Hostname', address: name }],
      conditions: conditions.length === 0 ? [READY] : cloneJson(conditions),
      nodeInfo: cloneJson(status.nodeInfo),
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
