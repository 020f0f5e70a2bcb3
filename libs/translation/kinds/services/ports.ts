import { cloneJson } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asName, asObject, objectsIn, textOf } from '../../json.ts'
import type { PairInput } from '../../kind.ts'
import { type Merge, threeWay } from '../../three-way.ts'
import type { TenantContext } from '../../view.ts'

/** A Service's spec; empty where there is none. */
export function specOf(service: KubeObject | undefined): JsonObject {
  return asObject(service?.spec) ?? {}
}

/** What tells the ports of one Service apart. */
function portKey(port: JsonObject): string {
  return `${asName(port.protocol) ?? 'TCP'}/${textOf(port.port)}`
}

/** Whether the API gives this type of Service node ports. */
export function hasNodePorts(spec: JsonObject): boolean {
  return spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false)
}

/** Whether the tenant's API has given the Service no address: it leaves that to the host. */
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
 * nothing on the host and may be taken there.
 */
export function chosenNodePorts(virtual: KubeObject, tenant: TenantContext): Record<string, string> {
  const all = nodePortsOf(virtual)
  if (tenant.nodePortsAreChosen === true) return all
  const applied = objectsIn(lastApplied(virtual).ports)
    .filter((port) => typeof port.nodePort === 'number')
    .map(portKey)
  return Object.fromEntries(Object.entries(all).filter(([key]) => applied.includes(key)))
}

/** Node ports merge like any two-way field; a number that only the tenant's API gave gives way to the host's. */
export function mergeNodePorts({ virtual, host, base, tenant }: PairInput): Merge {
  const known = asObject(base?.nodePorts) ?? {}
  const chosen = chosenNodePorts(virtual, tenant)
  const isMeant = (key: string): boolean => Object.hasOwn(chosen, key) || Object.hasOwn(known, key)
  const ports = new Set(objectsIn(specOf(virtual).ports).map(portKey))
  return threeWay(known, {
    virtual: Object.fromEntries(Object.entries(nodePortsOf(virtual)).filter(([key]) => isMeant(key))),
    host: Object.fromEntries(Object.entries(nodePortsOf(host)).filter(([key]) => ports.has(key))),
  })
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
