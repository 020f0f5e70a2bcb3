import type { JsonObject, KubeObject } from '#libs/kube-model'

import type { FieldProblem } from '../api-error.ts'
import { asNumber, asString, objectsIn, stringsIn } from '../schema/json-shape.ts'
import { specOf } from './create-strategy.ts'
import { duplicate, forbidden, invalid, invalidAll, notSupported, required } from './field-problem.ts'
import { dnsLabelProblems, isIpAddress, portNameProblems, portNumberProblems, subdomainProblems } from './names.ts'
import { validateLabels } from './validate-metadata.ts'

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const AFFINITIES = ['ClientIP', 'None']
const PROTOCOLS = ['SCTP', 'TCP', 'UDP']

/** What is wrong with a Service. */
export function validateService(service: KubeObject): FieldProblem[] {
  const spec = specOf(service)
  const type = asString(spec['type'])
  const problems: FieldProblem[] = []
  const ports = objectsIn(spec['ports'])
  const isHeadless = spec['clusterIP'] === 'None'
  if (ports.length === 0 && !isHeadless && type !== 'ExternalName') problems.push(required('spec.ports'))
  if (type === 'ExternalName') {
    const name = asString(spec['externalName']).replace(/\.$/, '')
    if (name === '') problems.push(required('spec.externalName'))
    else problems.push(...invalidAll('spec.externalName', name, subdomainProblems(name)))
    if (asString(spec['clusterIP']) !== '') {
      problems.push(forbidden('spec.clusterIPs[0]', 'may not be set for ExternalName services'))
    }
  }
  if (isHeadless && (type === 'NodePort' || type === 'LoadBalancer')) {
    problems.push(invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`))
  }
  problems.push(...validateAddresses(spec), ...validatePorts(ports))
  problems.push(...validateLabels(spec['selector'] as Record<string, string> | undefined, 'spec.selector'))
  const affinity = asString(spec['sessionAffinity'])
  if (affinity === '') problems.push(required('spec.sessionAffinity'))
  else if (!AFFINITIES.includes(affinity)) problems.push(notSupported('spec.sessionAffinity', affinity, AFFINITIES))
  if (!TYPES.includes(type)) problems.push(notSupported('spec.type', type, TYPES))
  problems.push(...validateNodePorts(type, ports), ...validateTrafficPolicy(spec))
  return problems
}

function validateAddresses(spec: JsonObject): FieldProblem[] {
  if (spec['type'] === 'ExternalName') return []
  const problems: FieldProblem[] = []
  const addresses = stringsIn(spec['clusterIPs'])
  const address = asString(spec['clusterIP'])
  if (addresses.length > 0 && address === '') {
    problems.push(invalid('spec.clusterIPs', addresses, 'must be empty when `clusterIP` is not specified'))
  } else if (addresses.length > 0 && addresses[0] !== address) {
    problems.push(invalid('spec.clusterIPs', addresses, 'first value must match `clusterIP`'))
  } else {
    for (const [index, text] of addresses.entries()) {
      if (text === 'None' || isIpAddress(text)) continue
      const detail = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
      problems.push(invalid(`spec.clusterIPs[${index}]`, text, detail))
    }
  }
  for (const [index, family] of stringsIn(spec['ipFamilies']).entries()) {
    if (family === 'IPv6') problems.push(invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster'))
    else if (family !== 'IPv4') problems.push(notSupported(`spec.ipFamilies[${index}]`, family, ['IPv4', 'IPv6']))
  }
  if (spec['ipFamilyPolicy'] === 'RequireDualStack') {
    problems.push(
      invalid('spec.ipFamilyPolicy', 'RequireDualStack', 'this cluster is not configured for dual-stack services'),
    )
  }
  return problems
}

function validatePorts(ports: readonly JsonObject[]): FieldProblem[] {
  const problems: FieldProblem[] = []
  const names = new Set<string>()
  const seen = new Set<string>()
  for (const [index, port] of ports.entries()) {
    const field = `spec.ports[${index}]`
    const name = asString(port['name'])
    if (name === '') {
      if (ports.length > 1) problems.push(required(`${field}.name`))
    } else {
      problems.push(...invalidAll(`${field}.name`, name, dnsLabelProblems(name)))
      if (names.has(name)) problems.push(duplicate(`${field}.name`, name))
      names.add(name)
    }
    const number = asNumber(port['port'])
    problems.push(...invalidAll(`${field}.port`, number, portNumberProblems(number)))
    const protocol = asString(port['protocol'])
    if (protocol === '') problems.push(required(`${field}.protocol`))
    else if (!PROTOCOLS.includes(protocol)) problems.push(notSupported(`${field}.protocol`, protocol, PROTOCOLS))
    const target = port['targetPort']
    const targetProblems =
      typeof target === 'string' ? portNameProblems(target) : portNumberProblems(asNumber(target, number))
    problems.push(...invalidAll(`${field}.targetPort`, target, targetProblems))
  }
  for (const [index, port] of ports.entries()) {
    const key = `${asString(port['protocol'])}/${asNumber(port['port'])}`
    if (seen.has(key)) {
      problems.push(
        duplicate(`spec.ports[${index}]`, {
          Name: '',
          Protocol: port['protocol'],
          AppProtocol: null,
          Port: port['port'],
          TargetPort: 0,
          NodePort: 0,
        }),
      )
    }
    seen.add(key)
  }
  return problems
}

function validateNodePorts(type: string, ports: readonly JsonObject[]): FieldProblem[] {
  const problems: FieldProblem[] = []
  const seen = new Set<string>()
  for (const [index, port] of ports.entries()) {
    const nodePort = asNumber(port['nodePort'])
    if (nodePort === 0) continue
    const field = `spec.ports[${index}].nodePort`
    if (type === 'ClusterIP') problems.push(forbidden(field, "may not be used when `type` is 'ClusterIP'"))
    const key = `${asString(port['protocol'])}/${nodePort}`
    if (seen.has(key)) problems.push(duplicate(field, nodePort))
    seen.add(key)
  }
  return problems
}

function validateTrafficPolicy(spec: JsonObject): FieldProblem[] {
  const problems: FieldProblem[] = []
  const policies = ['Cluster', 'Local']
  const external = asString(spec['externalTrafficPolicy'])
  const isExternal =
    spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer' || stringsIn(spec['externalIPs']).length > 0
  if (external !== '' && !isExternal) {
    const detail = 'may only be set for externally-accessible services'
    problems.push(invalid('spec.externalTrafficPolicy', external, detail))
  } else if (external !== '' && !policies.includes(external)) {
    problems.push(notSupported('spec.externalTrafficPolicy', external, policies))
  }
  const internal = asString(spec['internalTrafficPolicy'])
  if (internal !== '' && !policies.includes(internal)) {
    problems.push(notSupported('spec.internalTrafficPolicy', internal, policies))
  }
  return problems
}

/** What is wrong with a change of a Service. */
export function validateServiceUpdate(next: KubeObject, previous: KubeObject): FieldProblem[] {
  const spec = specOf(next)
  const before = specOf(previous)
  const problems: FieldProblem[] = []
  const old = asString(before['clusterIP'])
  if (old !== '' && before['type'] !== 'ExternalName' && spec['type'] !== 'ExternalName') {
    const addresses = stringsIn(spec['clusterIPs'])
    if (addresses[0] !== old && !(addresses.length === 0 && asString(spec['clusterIP']) === '')) {
      problems.push(invalid('spec.clusterIPs[0]', addresses, 'may not change once set'))
    }
  }
  const loadBalancerClass = before['loadBalancerClass']
  if (before['type'] === 'LoadBalancer' && spec['type'] === 'LoadBalancer') {
    if (spec['loadBalancerClass'] !== loadBalancerClass && loadBalancerClass !== undefined) {
      problems.push(invalid('spec.loadBalancerClass', spec['loadBalancerClass'], 'may not change once set'))
    }
  }
  return problems
}
