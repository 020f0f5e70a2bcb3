import type { ApiObject } from './api-request.ts'

/** JSON with sorted keys: equal values, equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}

/** Labels without those of Causeway. */
export function labelsOf({ metadata }: ApiObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata.labels ?? {}).filter(([key]) => !key.split('/')[0]?.endsWith('causeway.dev')),
  )
}

type PodSpec = {
  nodeName?: string
  volumes?: {
    configMap?: { name?: string }
    secret?: { secretName?: string }
    persistentVolumeClaim?: { claimName?: string }
  }[]
  containers: { image?: string }[]
}
type PodStatus = {
  phase?: string
  podIP?: string
  hostIP?: string
  startTime?: string
  conditions?: { type: string; status: string }[]
  containerStatuses?: { name: string; ready?: boolean; restartCount?: number; image?: string; containerID?: string }[]
}

/** ConfigMaps, Secrets and claims of a pod's volumes, as `kind namespace/name`. */
export function usedBy({ metadata, spec }: ApiObject): string[] {
  return ((spec as PodSpec | undefined)?.volumes ?? []).flatMap((volume) => {
    const { configMap, secret, persistentVolumeClaim: claim } = volume
    const at = (kind: string, name: string | undefined): string[] =>
      name === undefined ? [] : [`${kind} ${metadata.namespace ?? ''}/${name}`]
    return [
      ...at('configmaps', configMap?.name),
      ...at('secrets', secret?.secretName),
      ...at('persistentvolumeclaims', claim?.claimName),
    ]
  })
}

/** What both sides of a pod must show alike. */
export function shownPod(pod: ApiObject): Record<string, unknown> {
  const spec = pod['spec'] as PodSpec
  const {
    phase,
    podIP,
    hostIP,
    startTime,
    conditions = [],
    containerStatuses = [],
  } = (pod['status'] ?? {}) as PodStatus
  return {
    phase,
    podIP,
    hostIP,
    startTime,
    node: spec.nodeName,
    images: spec.containers.map(({ image }) => image),
    conditions: conditions.map(({ type, status }) => `${type}=${status}`).toSorted(),
    containers: containerStatuses,
  }
}

export function servicePorts({ spec }: ApiObject): unknown {
  const { ports = [] } = spec as { ports?: { name?: string; port?: number; protocol?: string }[] }
  return ports.map(({ name, port, protocol }) => [name, port, protocol])
}
