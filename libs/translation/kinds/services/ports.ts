import { cloneJson } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asName, asObject, objectsIn, textOf } from '../../json.ts'
import type { Merge } from '../../three-way.ts'
import { threeWay } from '../../three-way.ts'

/** A Service's spec; empty where there is none. */
export function specOf(service: KubeObject | undefined): JsonObject {
  return asObject(service?.spec) ?? {}
}

/** What tells the ports of one Service apart. */
export function portKey(port: JsonObject): string {
  return `${asName(port.protocol) ?? 'TCP'}/${textOf(port.port)}`
}

/** Whether the API gives this type of Service node ports. */
export function hasNodePorts(spec: JsonObject): boolean {
  return spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false)
}

/** Whether the tenant's API has given the Service no address: it leaves that to the host, and node ports likewise. */
export function leavesAddressOpen(virtual: KubeObject): boolean {
  const spec = specOf(virtual)
  return spec.type !== 'ExternalName' && asName(spec.clusterIP) === undefined
}

/** The node ports of a Service by port. */
export function nodePortsOf(service: KubeObject): Record<string, string> {
  const spec = specOf(service)
  if (!hasNodePorts(spec)) return {}
  const entries = objectsIn(spec.ports).flatMap((port) =>
    typeof port.nodePort === 'number' && port.nodePort > 0 ? [[portKey(port), String(port.nodePort)]] : [],
  )
  return Object.fromEntries(entries) as Record<string, string>
}

/**
 * The node ports that the tenant chose itself. An API that allocates gives the others numbers of its own, which mean
 * nothing on the host. An API that leaves the cluster IP open allocates no node ports either: then all are chosen.
 */
export function chosenNodePorts(virtual: KubeObject): Record<string, string> {
  const all = nodePortsOf(virtual)
  if (leavesAddressOpen(virtual)) return all
  const applied = objectsIn(lastApplied(virtual).ports)
    .filter((port) => typeof port.nodePort === 'number')
    .map(portKey)
  return Object.fromEntries(Object.entries(all).filter(([key]) => applied.includes(key)))
}

/** Node ports merge like any two-way field; a number that only the tenant's API gave gives way to the host's. */
export function mergeNodePorts(virtual: KubeObject, host: KubeObject, base: JsonObject | undefined): Merge {
  const hostPorts = nodePortsOf(host)
  const known = asObject(base?.nodePorts) ?? {}
  const chosen = chosenNodePorts(virtual)
  const tenantPorts = Object.fromEntries(
    Object.entries(nodePortsOf(virtual)).filter(([key]) => key in chosen || key in known || !(key in hostPorts)),
  )
  const wanted = new Set(objectsIn(specOf(virtual).ports).map(portKey))
  const theirs = Object.fromEntries(Object.entries(hostPorts).filter(([key]) => wanted.has(key)))
  return threeWay(known, { virtual: tenantPorts, host: theirs })
}

/** The ports with these node ports and no others. */
export function withNodePorts(ports: unknown, nodePorts: Record<string, string | null>): JsonObject[] {
  return objectsIn(ports).map((port) => {
    const { nodePort: _nodePort, ...rest } = cloneJson(port)
    const nodePort = nodePorts[portKey(port)]
    return nodePort == null ? rest : { ...rest, nodePort: Number(nodePort) }
  })
}

function lastApplied(virtual: KubeObject): JsonObject {
  const text = virtual.metadata.annotations?.['kubectl.kubernetes.io/last-applied-configuration']
  if (text === undefined) return {}
  try {
    return asObject(asObject(JSON.parse(text))?.spec) ?? {}
  } catch {
    // A tenant may write anything there; then nothing is known.
    return {}
  }
}
