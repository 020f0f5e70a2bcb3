import type { KubeObject } from '#libs/kube-model'

import { asNumber, asString, at, objectsIn, stringsIn } from '../schema/json-shape.ts'
import { ageOf } from './age.ts'
import { abbreviated, labelText, NONE, orNone, selectorText } from './cell.ts'
import type { Cells } from './cell.ts'

const nameOf = (object: KubeObject): string => object.metadata.name ?? ''
const ageCell = (object: KubeObject, nowMs: number): string => ageOf(object.metadata.creationTimestamp, nowMs)

function ingressAddresses(object: KubeObject): string[] {
  const ingress = objectsIn(at(object, 'status', 'loadBalancer', 'ingress'))
  return ingress.map((entry) => asString(entry['ip']) || asString(entry['hostname'])).filter((text) => text !== '')
}

function externalAddress(service: KubeObject): string {
  const external = stringsIn(at(service, 'spec', 'externalIPs'))
  switch (asString(at(service, 'spec', 'type'))) {
    case 'ExternalName':
      return asString(at(service, 'spec', 'externalName'))
    case 'LoadBalancer': {
      const all = [...ingressAddresses(service), ...external]
      return all.length === 0 ? '<pending>' : all.join(',')
    }
    default:
      return orNone(external.join(','))
  }
}

const service: Cells = (object, nowMs) => {
  const ports = objectsIn(at(object, 'spec', 'ports')).map((port) => {
    const nodePort = asNumber(port['nodePort'])
    return `${asNumber(port['port'])}${nodePort === 0 ? '' : `:${nodePort}`}/${asString(port['protocol'])}`
  })
  return [
    nameOf(object),
    asString(at(object, 'spec', 'type')),
    orNone(asString(at(object, 'spec', 'clusterIP'))),
    externalAddress(object),
    orNone(ports.join(',')),
    ageCell(object, nowMs),
    labelText(at(object, 'spec', 'selector')),
  ]
}

const endpoints: Cells = (object, nowMs) => {
  const addresses: string[] = []
  for (const subset of objectsIn(object['subsets'])) {
    const ips = objectsIn(subset['addresses']).map((address) => asString(address['ip']))
    const ports = objectsIn(subset['ports']).map((port) => asNumber(port['port']))
    if (ports.length === 0) addresses.push(...ips)
    for (const port of ports) for (const ip of ips) addresses.push(`${ip}:${port}`)
  }
  return [nameOf(object), orNone(abbreviated(addresses, 3)), ageCell(object, nowMs)]
}

const endpointSlice: Cells = (object, nowMs) => {
  const ports = objectsIn(object['ports']).map((port) => String(port['port'] as number | undefined))
  const addresses = objectsIn(object['endpoints']).flatMap((endpoint) => stringsIn(endpoint['addresses']))
  return [
    nameOf(object),
    asString(object['addressType']),
    ports.length === 0 ? '<unset>' : abbreviated(ports, 3),
    addresses.length === 0 ? '<unset>' : abbreviated(addresses, 3),
    ageCell(object, nowMs),
  ]
}

const ingress: Cells = (object, nowMs) => {
  const hosts = objectsIn(at(object, 'spec', 'rules'))
    .map((rule) => asString(rule['host']))
    .filter((host) => host !== '')
  const hasTls = objectsIn(at(object, 'spec', 'tls')).length > 0
  return [
    nameOf(object),
    orNone(asString(at(object, 'spec', 'ingressClassName'))),
    hosts.length === 0 ? '*' : abbreviated(hosts, 3),
    ingressAddresses(object).join(','),
    hasTls ? '80, 443' : '80',
    ageCell(object, nowMs),
  ]
}

const networkPolicy: Cells = (object, nowMs) => [
  nameOf(object),
  selectorText(at(object, 'spec', 'podSelector')),
  ageCell(object, nowMs),
]

const lease: Cells = (object, nowMs) => [
  nameOf(object),
  asString(at(object, 'spec', 'holderIdentity')),
  ageCell(object, nowMs),
]

const disruptionBudget: Cells = (object, nowMs) => {
  const amount = (name: string): string => {
    const value = at(object, 'spec', name)
    return typeof value === 'string' || typeof value === 'number' ? String(value) : 'N/A'
  }
  return [
    nameOf(object),
    amount('minAvailable'),
    amount('maxUnavailable'),
    asNumber(at(object, 'status', 'disruptionsAllowed')),
    ageCell(object, nowMs),
  ]
}

const binding: Cells = (object, nowMs) => {
  const ofKind = (kind: string): string =>
    objectsIn(object['subjects'])
      .filter((subject) => subject['kind'] === kind)
      .map(
        (subject) =>
          (kind === 'ServiceAccount' ? `${asString(subject['namespace'])}/` : '') + asString(subject['name']),
      )
      .join(', ')
  const role = `${asString(at(object, 'roleRef', 'kind'))}/${asString(at(object, 'roleRef', 'name'))}`
  return [nameOf(object), role, ageCell(object, nowMs), ofKind('User'), ofKind('Group'), ofKind('ServiceAccount')]
}

const ingressClass: Cells = (object, nowMs) => {
  const parameters = at(object, 'spec', 'parameters')
  const kind = asString(at(parameters, 'kind'))
  const group = asString(at(parameters, 'apiGroup'))
  const reference = `${kind}${group === '' ? '' : `.${group}`}/${asString(at(parameters, 'name'))}`
  return [
    nameOf(object),
    asString(at(object, 'spec', 'controller')),
    kind === '' ? NONE : reference,
    ageCell(object, nowMs),
  ]
}

/** Cells of kinds about traffic, access and coordination, by resource token. */
export const NETWORK_CELLS: Record<string, Cells> = {
  services: service,
  endpoints,
  'endpointslices.discovery.k8s.io': endpointSlice,
  'ingresses.networking.k8s.io': ingress,
  'ingressclasses.networking.k8s.io': ingressClass,
  'networkpolicies.networking.k8s.io': networkPolicy,
  'leases.coordination.k8s.io': lease,
  'poddisruptionbudgets.policy': disruptionBudget,
  'rolebindings.rbac.authorization.k8s.io': binding,
  'clusterrolebindings.rbac.authorization.k8s.io': binding,
}
