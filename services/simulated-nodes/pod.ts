import type { KubeObject, PlacedSpec, Taint } from '#libs/kube-model'

export type Condition = {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason?: string
  message?: string
  lastProbeTime?: string | null
  lastTransitionTime?: string
}

export type Container = {
  name: string
  image?: string
  restartPolicy?: string
  resources?: object
  envFrom?: { configMapRef?: NameReference; secretRef?: NameReference }[]
  env?: { valueFrom?: { configMapKeyRef?: NameReference; secretKeyRef?: NameReference } }[]
}

export type NameReference = { name?: string; optional?: boolean }

/** A pod, the fields that the simulation reads. */
export type Pod = KubeObject & {
  spec?: PlacedSpec & {
    nodeName?: string
    schedulerName?: string
    schedulingGates?: unknown[]
    restartPolicy?: string
    hostNetwork?: boolean
    readinessGates?: { conditionType: string }[]
    initContainers?: Container[]
    containers?: Container[]
    volumes?: Volume[]
  }
  status?: {
    phase?: string
    podIP?: string
    startTime?: string
    conditions?: Condition[]
    containerStatuses?: unknown[]
  }
}

export type Volume = {
  name?: string
  persistentVolumeClaim?: { claimName?: string }
  ephemeral?: object
  configMap?: NameReference
  secret?: { secretName?: string; optional?: boolean }
  projected?: { sources?: { configMap?: NameReference; secret?: NameReference }[] }
}

/** A node, the fields that scheduling reads. */
export type Node = KubeObject & {
  spec?: { unschedulable?: boolean; taints?: Taint[] }
  status?: {
    allocatable?: Record<string, string>
    addresses?: { type: string; address: string }[]
    conditions?: Condition[]
  }
}

/** Whether the pod's containers ended for good. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
}

/** Milliseconds since the epoch as an API time: whole seconds, UTC. */
export function toTimestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

/** `namespace/name`. */
export function podKey(pod: KubeObject): string {
  return `${pod.metadata.namespace ?? ''}/${pod.metadata.name ?? ''}`
}
