import type { KubeObject } from '#libs/kube-model'
import { asObject, asString, at, objectsIn } from '../schema/json-shape.ts'
import { parseQuantity } from '../schema/quantity.ts'

/** Amounts by resource name, in billionths. */
export type Usage = Map<string, bigint>

const ONE = 10n ** 9n

/** Plain names of resources that are counted. */
const COUNTED: Readonly<Record<string, string>> = {
  pods: 'pods',
  services: 'services',
  configmaps: 'configmaps',
  secrets: 'secrets',
  persistentvolumeclaims: 'persistentvolumeclaims',
  resourcequotas: 'resourcequotas',
  replicationcontrollers: 'replicationcontrollers',
}

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage']

/** The resources (by token) of whose objects a quota with these names counts anything. */
export function countedResources(hard: Readonly<Record<string, unknown>>): Set<string> {
  const tokens = new Set<string>()
  for (const name of Object.keys(hard)) {
    if (name.startsWith('count/')) tokens.add(name.slice('count/'.length))
    else if (COUNTED[name] !== undefined) tokens.add(name)
    else if (name.startsWith('services.')) tokens.add('services')
    else if (name === 'requests.storage' || name.includes('.storageclass.storage.k8s.io/')) {
      tokens.add('persistentvolumeclaims')
    } else tokens.add('pods')
  }
  return tokens
}

/** What one object uses of everything that quotas can limit. */
export function usageOf(token: string, object: KubeObject): Usage {
  const usage: Usage = new Map([[`count/${token}`, ONE]])
  const plain = COUNTED[token]
  if (token === 'pods') {
    if (isOver(object)) return usage
    addPod(usage, object)
  }
  if (plain !== undefined) usage.set(plain, ONE)
  if (token === 'services') addService(usage, object)
  if (token === 'persistentvolumeclaims') addClaim(usage, object)
  return usage
}

const isOver = (pod: KubeObject): boolean => ['Succeeded', 'Failed'].includes(asString(at(pod, 'status', 'phase')))

function addPod(usage: Usage, pod: KubeObject): void {
  for (const kind of ['requests', 'limits'] as const) {
    for (const [name, amount] of podAmounts(pod, kind)) {
      usage.set(`${kind}.${name}`, amount)
      if (kind === 'requests' && COMPUTE.includes(name)) usage.set(name, amount)
    }
  }
}

/** Containers run side by side, init containers before them one by one. */
function podAmounts(pod: KubeObject, kind: 'requests' | 'limits'): Usage {
  const total: Usage = new Map()
  const amounts = (container: unknown): [string, bigint][] =>
    Object.entries(asObject(at(container, 'resources', kind))).map(([name, text]) => [name, nanos(text)])
  for (const container of objectsIn(at(pod, 'spec', 'containers'))) {
    for (const [name, amount] of amounts(container)) total.set(name, (total.get(name) ?? 0n) + amount)
  }
  for (const container of objectsIn(at(pod, 'spec', 'initContainers'))) {
    for (const [name, amount] of amounts(container)) {
      const isSidecar = container['restartPolicy'] === 'Always'
      const before = total.get(name) ?? 0n
      total.set(name, isSidecar ? before + amount : amount > before ? amount : before)
    }
  }
  for (const [name, text] of Object.entries(asObject(at(pod, 'spec', 'overhead')))) {
    total.set(name, (total.get(name) ?? 0n) + nanos(text))
  }
  return total
}

function addService(usage: Usage, service: KubeObject): void {
  const type = asString(at(service, 'spec', 'type'))
  const ports = BigInt(objectsIn(at(service, 'spec', 'ports')).length) * ONE
  const hasNodePorts =
    type === 'NodePort' || (type === 'LoadBalancer' && at(service, 'spec', 'allocateLoadBalancerNodePorts') !== false)
  usage.set('services.nodeports', hasNodePorts ? ports : 0n)
  usage.set('services.loadbalancers', type === 'LoadBalancer' ? ONE : 0n)
}

function addClaim(usage: Usage, claim: KubeObject): void {
  const storage = nanos(at(claim, 'spec', 'resources', 'requests', 'storage'))
  usage.set('requests.storage', storage)
  const name = asString(at(claim, 'spec', 'storageClassName'))
  if (name === '') return
  usage.set(`${name}.storageclass.storage.k8s.io/requests.storage`, storage)
  usage.set(`${name}.storageclass.storage.k8s.io/persistentvolumeclaims`, ONE)
}

/** A quantity in billionths; 0 when it is none. */
export function nanos(text: unknown): bigint {
  return typeof text === 'string' || typeof text === 'number' ? (parseQuantity(text)?.nanos ?? 0n) : 0n
}

/** Whether a quota's scopes take an object in; quotas without scopes take in everything. */
export function isInScope(quota: KubeObject, token: string, object: KubeObject): boolean {
  const scopes = at(quota, 'spec', 'scopes')
  const selected = objectsIn(at(quota, 'spec', 'scopeSelector', 'matchExpressions'))
  const names = Array.isArray(scopes) ? scopes.map((scope) => ({ scopeName: scope, operator: 'Exists' })) : []
  const terms = [...names, ...selected] as { scopeName?: string; operator?: string; values?: string[] }[]
  if (terms.length === 0) return true
  return token === 'pods' && terms.every((term) => matchesScope(term, object))
}

function matchesScope(term: { scopeName?: string; operator?: string; values?: string[] }, pod: KubeObject): boolean {
  const isTerminating = at(pod, 'spec', 'activeDeadlineSeconds') !== undefined
  switch (term.scopeName ?? '') {
    case 'Terminating':
      return isTerminating
    case 'NotTerminating':
      return !isTerminating
    case 'BestEffort':
      return isBestEffort(pod)
    case 'NotBestEffort':
      return !isBestEffort(pod)
    case 'PriorityClass': {
      const name = asString(at(pod, 'spec', 'priorityClassName'))
      if (term.operator === 'In') return (term.values ?? []).includes(name)
      if (term.operator === 'NotIn') return !(term.values ?? []).includes(name)
      return (term.operator === 'DoesNotExist') === (name === '')
    }
    default:
      return true
  }
}

const isBestEffort = (pod: KubeObject): boolean =>
  podAmounts(pod, 'requests').size + podAmounts(pod, 'limits').size === 0

/** Names of the pod's containers that lack an amount which a quota limits, by the amount's name. */
export function unspecified(pod: KubeObject, hard: Readonly<Record<string, unknown>>): Map<string, string[]> {
  const missing = new Map<string, string[]>()
  for (const name of Object.keys(hard).sort()) {
    const [, kind = 'requests', resource = ''] = /^(?:(requests|limits)\.)?(cpu|memory)$/.exec(name) ?? []
    if (resource === '') continue
    const containers = ['initContainers', 'containers'].flatMap((list) => objectsIn(at(pod, 'spec', list)))
    const lacking = containers.filter((container) => at(container, 'resources', kind, resource) === undefined)
    if (lacking.length > 0) missing.set(name, lacking.map((container) => asString(container['name'])).sort())
  }
  return missing
}
