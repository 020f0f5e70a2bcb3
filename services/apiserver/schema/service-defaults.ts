import type { JsonObject } from '#libs/kube-model'

import { asObject, ensureObject, objectsIn, setDefault } from './json-shape.ts'

const CLIENT_AFFINITY_SECONDS = 10_800

/** Defaults of a Service that need no allocation. */
export function defaultService(service: JsonObject): void {
  const spec = ensureObject(service, 'spec')
  setDefault(spec, 'sessionAffinity', 'None')
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig']
  if (spec['sessionAffinity'] === 'ClientIP') {
    const config = ensureObject(ensureObject(spec, 'sessionAffinityConfig'), 'clientIP')
    setDefault(config, 'timeoutSeconds', CLIENT_AFFINITY_SECONDS)
  }
  setDefault(spec, 'type', 'ClusterIP')
  for (const port of objectsIn(spec['ports'])) {
    const target = port['targetPort']
    if (target === undefined || target === 0 || target === '') port['targetPort'] = port['port'] ?? 0
  }
  const isExternal = spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer'
  if (isExternal) setDefault(spec, 'externalTrafficPolicy', 'Cluster')
  if (isExternal || spec['type'] === 'ClusterIP') setDefault(spec, 'internalTrafficPolicy', 'Cluster')
  if (spec['type'] === 'LoadBalancer') setDefault(spec, 'allocateLoadBalancerNodePorts', true)
  for (const ingress of objectsIn(asObject(asObject(service['status'])['loadBalancer'])['ingress'])) {
    if (typeof ingress['ip'] === 'string') setDefault(ingress, 'ipMode', 'VIP')
  }
}
