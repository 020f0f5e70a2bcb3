import type { KubeObject } from '#libs/kube-model'
import { isFinishedPod, isReadyPod } from './pods.ts'
import type { Pod } from './pods.ts'

export type Service = KubeObject & {
  spec?: {
    selector?: Record<string, string>
    type?: string
    clusterIP?: string
    publishNotReadyAddresses?: boolean
    ports?: { name?: string; protocol?: string; port: number; targetPort?: number | string; appProtocol?: string }[]
  }
}

/** A pod behind a service. */
export type Backend = { pod: Pod; ip: string; ports: BackendPort[]; isReady: boolean; isServing: boolean }

export type BackendPort = { name?: string; port: number; protocol: string; appProtocol?: string }

/** The pods behind a service: those it selects that have an address, sorted by it. */
export function backendsOf(service: Service, pods: readonly Pod[]): Backend[] {
  const backends: Backend[] = []
  for (const pod of pods) {
    const ip = pod.status?.podIP
    if (!ip || isFinishedPod(pod)) continue
    const isServing = isReadyPod(pod)
    const isReady =
      service.spec?.publishNotReadyAddresses === true || (isServing && pod.metadata.deletionTimestamp === undefined)
    backends.push({ pod, ip, ports: portsOf(service, pod), isReady, isServing })
  }
  return backends.toSorted((a, b) => (a.ip < b.ip ? -1 : a.ip > b.ip ? 1 : 0))
}

/** Ports of a service as this pod has them; a named port that the pod lacks is left out. */
function portsOf(service: Service, pod: Pod): BackendPort[] {
  const ports: BackendPort[] = []
  for (const { name, port, targetPort, protocol = 'TCP', appProtocol } of service.spec?.ports ?? []) {
    const number = typeof targetPort === 'string' ? namedPort(pod, targetPort, protocol) : (targetPort ?? port)
    if (number === undefined) continue
    ports.push({
      ...(name === undefined ? {} : { name }),
      port: number,
      protocol,
      ...(appProtocol === undefined ? {} : { appProtocol }),
    })
  }
  return ports
}

function namedPort(pod: Pod, name: string, protocol: string): number | undefined {
  for (const container of pod.spec?.containers ?? []) {
    const port = container.ports?.find((entry) => entry.name === name && (entry.protocol ?? 'TCP') === protocol)
    if (port !== undefined) return port.containerPort
  }
  return undefined
}

/** Backends with the same ports, in groups. */
export function groupByPorts(backends: readonly Backend[]): { ports: BackendPort[]; backends: Backend[] }[] {
  const groups = new Map<string, { ports: BackendPort[]; backends: Backend[] }>()
  for (const backend of backends) {
    const key = JSON.stringify(backend.ports)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { ports: backend.ports, backends: [backend] })
    else group.backends.push(backend)
  }
  return [...groups.values()]
}

/** https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoints-v1/, the field `subsets`. */
export function endpointSubsets(backends: readonly Backend[]): unknown[] {
  return groupByPorts(backends.filter(({ ports }) => ports.length > 0)).flatMap(({ ports, backends: members }) => {
    const isListed = ({ pod, isReady }: Backend): boolean => isReady || pod.metadata.deletionTimestamp === undefined
    const ready = members.filter(({ isReady }) => isReady).map(legacyAddress)
    const notReady = members.filter((member) => !member.isReady && isListed(member)).map(legacyAddress)
    if (ready.length === 0 && notReady.length === 0) return []
    return [
      {
        ...(ready.length === 0 ? {} : { addresses: ready }),
        ...(notReady.length === 0 ? {} : { notReadyAddresses: notReady }),
        ports,
      },
    ]
  })
}

function legacyAddress({ pod, ip }: Backend): unknown {
  return { ip, ...hostname(pod), ...nodeName(pod), targetRef: targetRef(pod) }
}

/** One endpoint of an EndpointSlice. */
export function sliceEndpoint({ pod, ip, isReady, isServing }: Backend): Record<string, unknown> {
  return {
    addresses: [ip],
    conditions: { ready: isReady, serving: isServing, terminating: pod.metadata.deletionTimestamp !== undefined },
    ...hostname(pod),
    ...nodeName(pod),
    targetRef: targetRef(pod),
  }
}

function nodeName(pod: Pod): { nodeName?: string } {
  return pod.spec?.nodeName ? { nodeName: pod.spec.nodeName } : {}
}

function hostname(pod: Pod): { hostname?: string } {
  return pod.spec?.hostname && pod.spec.subdomain ? { hostname: pod.spec.hostname } : {}
}

function targetRef({ metadata }: Pod): Record<string, unknown> {
  return { kind: 'Pod', name: metadata.name, namespace: metadata.namespace, uid: metadata.uid }
}
