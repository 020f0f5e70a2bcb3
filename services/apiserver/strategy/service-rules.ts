import type { JsonObject, KubeObject } from '#libs/kube-model'

import { ApiError } from '../api-error.ts'
import { asNumber, asObject, asString, ensureObject, objectsIn, setDefault, stringsIn } from '../schema/json-shape.ts'
import { specOf } from './create-strategy.ts'
import { invalid } from './field-problem.ts'
import { dnsLabelProblems } from './names.ts'
import { AllocationError } from './strategy.ts'
import type { KindRules, StrategyContext } from './strategy.ts'
import { validateServiceStatus } from './validate-load-balancer.ts'
import { validateService, validateServiceUpdate } from './validate-service.ts'

export const SERVICE_RULES: KindRules = {
  nameProblems: dnsLabelProblems,
  prepareCreate: (service, context) => {
    const spec = ensureObject(service as JsonObject, 'spec')
    normalizeAddresses(spec, undefined)
    defaultFamilies(spec)
    allocate(service, undefined, context)
  },
  prepareUpdate: (next, previous, context) => {
    const spec = ensureObject(next as JsonObject, 'spec')
    const before = specOf(previous)
    normalizeAddresses(spec, before)
    dropUnneeded(spec, before)
    if (spec['type'] !== 'LoadBalancer') next['status'] = { ...asObject(next['status']), loadBalancer: {} }
    keepAllocated(spec, before)
    defaultFamilies(spec)
    allocate(next, previous, context)
  },
  validate: validateService,
  validateUpdate: validateServiceUpdate,
  validateStatus: validateServiceStatus,
}

const needsAddress = (spec: JsonObject): boolean => spec['type'] !== 'ExternalName'
const hasNodePorts = (spec: JsonObject): boolean => spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer'
const needsHealthPort = (spec: JsonObject): boolean =>
  spec['type'] === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local'

/** `clusterIPs` follows `clusterIP`, which older clients set alone. */
function normalizeAddresses(spec: JsonObject, before: JsonObject | undefined): void {
  const address = asString(spec['clusterIP'])
  const list = stringsIn(spec['clusterIPs'])
  if (before === undefined) {
    if (address !== '' && list.length === 0) spec['clusterIPs'] = [address]
    return
  }
  const old = asString(before['clusterIP'])
  const isListSame = list.join() === stringsIn(before['clusterIPs']).join()
  if (address !== '' && list.length === 0) spec['clusterIPs'] = [address]
  else if (address !== old && isListSame) {
    if (address === '') delete spec['clusterIPs']
    else spec['clusterIPs'] = [address]
  }
}

/** A change of type lets go of what only the old type had, unless the client changed it too. */
function dropUnneeded(spec: JsonObject, before: JsonObject): void {
  const isSame = (name: string): boolean => JSON.stringify(spec[name]) === JSON.stringify(before[name])
  if (needsAddress(before) && !needsAddress(spec)) {
    for (const name of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy']) {
      if (isSame(name) || name === 'clusterIPs') delete spec[name]
    }
  }
  if (hasNodePorts(before) && !hasNodePorts(spec)) {
    const old = objectsIn(before['ports']).map((port) => port['nodePort'])
    for (const port of objectsIn(spec['ports'])) if (old.includes(port['nodePort'])) delete port['nodePort']
    if (isSame('externalTrafficPolicy')) delete spec['externalTrafficPolicy']
  }
  if (needsHealthPort(before) && !needsHealthPort(spec) && isSame('healthCheckNodePort')) {
    delete spec['healthCheckNodePort']
  }
  if (before['type'] === 'LoadBalancer' && spec['type'] !== 'LoadBalancer') {
    for (const name of ['allocateLoadBalancerNodePorts', 'loadBalancerClass']) if (isSame(name)) delete spec[name]
  }
}

/** A client that does not know what was allocated keeps it. */
function keepAllocated(spec: JsonObject, before: JsonObject): void {
  if (needsAddress(spec) && needsAddress(before) && asString(spec['clusterIP']) === '') {
    const old = before['clusterIP']
    if (old !== undefined && stringsIn(spec['clusterIPs']).length === 0) {
      spec['clusterIP'] = old
      if (before['clusterIPs'] !== undefined) spec['clusterIPs'] = [...stringsIn(before['clusterIPs'])]
    }
  }
  if (hasNodePorts(spec) && hasNodePorts(before)) {
    const used = new Set(objectsIn(spec['ports']).map((port) => port['nodePort']))
    for (const port of objectsIn(spec['ports'])) {
      if (asNumber(port['nodePort']) !== 0) continue
      const old = objectsIn(before['ports']).find(
        (candidate) => candidate['port'] === port['port'] && candidate['protocol'] === port['protocol'],
      )
      const nodePort = old?.['nodePort']
      if (nodePort !== undefined && !used.has(nodePort)) port['nodePort'] = nodePort
    }
  }
  const healthPort = before['healthCheckNodePort']
  if (needsHealthPort(spec) && needsHealthPort(before) && healthPort !== undefined) {
    setDefault(spec, 'healthCheckNodePort', healthPort)
  }
}

function defaultFamilies(spec: JsonObject): void {
  if (!needsAddress(spec)) return
  setDefault(spec, 'ipFamilyPolicy', 'SingleStack')
  if (stringsIn(spec['ipFamilies']).length === 0) spec['ipFamilies'] = ['IPv4']
}

/** Takes addresses and ports from the cluster, for a Service that is sound; an unsound one is refused afterwards. */
function allocate(service: KubeObject, previous: KubeObject | undefined, context: StrategyContext): void {
  const problems = [
    ...validateService(service),
    ...(previous === undefined ? [] : validateServiceUpdate(service, previous)),
  ]
  if (problems.length > 0) return
  const spec = specOf(service)
  const before = previous === undefined ? {} : specOf(previous)
  if (needsAddress(spec)) allocateAddress(service, before, context)
  const wantsNodePorts =
    spec['type'] === 'NodePort' || (spec['type'] === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] === true)
  if (hasNodePorts(spec)) allocateNodePorts(service, { before, context, isWanted: wantsNodePorts })
  if (needsHealthPort(spec) && asNumber(spec['healthCheckNodePort']) !== asNumber(before['healthCheckNodePort'], -1)) {
    const wanted = asNumber(spec['healthCheckNodePort'])
    if (wanted === 0 && context.serviceClusterIP === 'open') return
    spec['healthCheckNodePort'] = attempt(service, { field: 'spec.healthCheckNodePort', value: wanted }, () =>
      context.allocateNodePort(wanted === 0 ? undefined : wanted),
    )
  }
}

function allocateAddress(service: KubeObject, before: JsonObject, context: StrategyContext): void {
  const spec = specOf(service)
  const wanted = asString(spec['clusterIP'])
  if (wanted === 'None' || (wanted !== '' && wanted === before['clusterIP'])) return
  if (wanted === '' && context.serviceClusterIP === 'open') return
  const address = attempt(
    service,
    { field: 'spec.clusterIPs', value: [wanted], prefix: `failed to allocate IP ${wanted}: ` },
    () => context.allocateClusterIP(wanted === '' ? undefined : wanted),
  )
  spec['clusterIP'] = address
  spec['clusterIPs'] = [address]
}

function allocateNodePorts(
  service: KubeObject,
  options: { before: JsonObject; context: StrategyContext; isWanted: boolean },
): void {
  const { before, context, isWanted } = options
  const held = new Map(objectsIn(before['ports']).map((port) => [port['nodePort'], port['protocol']]))
  const byNumber = new Map<number, number>()
  for (const [index, port] of objectsIn(specOf(service)['ports']).entries()) {
    const wanted = asNumber(port['nodePort'])
    if (wanted === 0 && (!isWanted || context.serviceClusterIP === 'open')) continue
    if (wanted !== 0 && held.has(wanted)) continue
    // TCP and UDP on one port share the node port.
    const shared = byNumber.get(asNumber(port['port']))
    if (wanted === 0 && shared !== undefined) {
      port['nodePort'] = shared
      continue
    }
    const nodePort = attempt(service, { field: `spec.ports[${index}].nodePort`, value: wanted }, () =>
      context.allocateNodePort(wanted === 0 ? undefined : wanted),
    )
    port['nodePort'] = nodePort
    byNumber.set(asNumber(port['port']), nodePort)
  }
}

/** Runs an allocation and turns its refusal into the API's error. */
function attempt<T>(
  service: KubeObject,
  place: { field: string; value: unknown; prefix?: string },
  allocation: () => T,
): T {
  try {
    return allocation()
  } catch (error) {
    if (!(error instanceof AllocationError)) throw error
    throw ApiError.invalid({ group: '', kind: 'Service' }, service.metadata.name ?? '', [
      invalid(place.field, place.value, `${place.prefix ?? ''}${error.message}`),
    ])
  }
}
