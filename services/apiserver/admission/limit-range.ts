import type { JsonObject, KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import type { ApiResource } from '../discovery/resources.ts'
import { asObject, asString, at, ensureObject, objectsIn } from '../schema/json-shape.ts'
import { compareQuantities, quantityText } from '../schema/quantity.ts'
import type { ClusterStore } from '../storage/store.ts'
import { nanos } from './quota-usage.ts'

type Amounts = Record<string, string>

type Limit = {
  type: string
  default?: Amounts
  defaultRequest?: Amounts
  min?: Amounts
  max?: Amounts
  maxLimitRequestRatio?: Amounts
}

const ANNOTATION = 'kubernetes.io/limit-ranger'

function limitsIn(store: ClusterStore, namespace: string): Limit[] {
  return store
    .list('limitranges', namespace)
    .flatMap(({ object }) => objectsIn(at(object, 'spec', 'limits')) as unknown as Limit[])
}

/** Fills the containers of a new pod with the defaults of its namespace, in place, and says so in an annotation. */
export function applyLimitDefaults(store: ClusterStore, namespace: string, pod: KubeObject): void {
  const limits = limitsIn(store, namespace).filter(({ type }) => type === 'Container')
  if (limits.length === 0) return
  const notes: string[] = []
  for (const [list, title] of [
    ['containers', 'container'],
    ['initContainers', 'init container'],
  ] as const) {
    for (const container of objectsIn(at(pod, 'spec', list))) {
      for (const limit of limits) notes.push(...fillContainer(container, limit, title))
    }
  }
  if (notes.length === 0) return
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}`,
  }
}

function fillContainer(container: JsonObject, limit: Limit, title: string): string[] {
  const resources = ensureObject(container, 'resources')
  const name = asString(container['name'])
  const fill = (kind: 'requests' | 'limits', defaults: Amounts | undefined): string[] => {
    const missing = Object.keys(defaults ?? {}).filter((key) => at(resources, kind, key) === undefined)
    if (missing.length === 0) return []
    const amounts = ensureObject(resources, kind)
    for (const key of missing) amounts[key] = defaults?.[key] ?? '0'
    return [`${missing.sort().join(', ')} ${kind.slice(0, -1)} for ${title} ${name}`]
  }
  return [...fill('requests', limit.defaultRequest), ...fill('limits', limit.default)]
}

/** Checks a new pod or claim against the limits of its namespace. @throws ApiError 403 */
export function checkLimits(
  store: ClusterStore,
  target: { resource: ApiResource; namespace: string },
  object: KubeObject,
): void {
  const { resource, namespace } = target
  if (resource.token !== 'pods' && resource.token !== 'persistentvolumeclaims') return
  const problems = limitsIn(store, namespace).flatMap((limit) => limitProblems(limit, resource.token, object))
  if (problems.length === 0) return
  const text = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`
  throw ApiError.forbidden(resource, object.metadata.name ?? '', text ?? '')
}

function limitProblems(limit: Limit, token: string, object: KubeObject): string[] {
  if (token === 'persistentvolumeclaims') {
    if (limit.type !== 'PersistentVolumeClaim') return []
    const requests = asObject(at(object, 'spec', 'resources', 'requests')) as Amounts
    return boundProblems(limit, { requests, limits: requests }).map((text) =>
      text.replace('but limit is', 'but request is'),
    )
  }
  const containers = ['containers', 'initContainers'].flatMap((list) => objectsIn(at(object, 'spec', list)))
  if (limit.type === 'Container') {
    return containers.flatMap((container) => boundProblems(limit, amountsOf(container)))
  }
  return limit.type === 'Pod' ? boundProblems(limit, podAmounts(objectsIn(at(object, 'spec', 'containers')))) : []
}

const amountsOf = (container: JsonObject): { requests: Amounts; limits: Amounts } => ({
  requests: asObject(at(container, 'resources', 'requests')) as Amounts,
  limits: asObject(at(container, 'resources', 'limits')) as Amounts,
})

function podAmounts(containers: readonly JsonObject[]): { requests: Amounts; limits: Amounts } {
  const sum = (kind: 'requests' | 'limits'): Amounts => {
    const total: Amounts = {}
    for (const container of containers) {
      for (const [key, text] of Object.entries(amountsOf(container)[kind])) {
        total[key] = quantityText(nanos(total[key]) + nanos(text), text)
      }
    }
    return total
  }
  return { requests: sum('requests'), limits: sum('limits') }
}

function boundProblems(limit: Limit, { requests, limits }: { requests: Amounts; limits: Amounts }): string[] {
  const problems: string[] = []
  const add = (start: string, text: string | undefined): void => {
    if (text !== undefined) problems.push(start + text)
  }
  for (const [key, bound] of Object.entries(limit.min ?? {})) {
    const start = `minimum ${key} usage per ${limit.type} is ${bound}`
    add(start, breach({ first: requests[key], second: limits[key], bound, sign: -1, names: ['request', 'limit'] }))
  }
  for (const [key, bound] of Object.entries(limit.max ?? {})) {
    const start = `maximum ${key} usage per ${limit.type} is ${bound}`
    add(start, breach({ first: limits[key], second: requests[key], bound, sign: 1, names: ['limit', 'request'] }))
  }
  for (const [key, bound] of Object.entries(limit.maxLimitRequestRatio ?? {})) {
    const [request, top] = [nanos(requests[key]), nanos(limits[key])]
    if (request === 0n || top === 0n) continue
    const ratio = Number(top) / Number(request)
    if (ratio * 1e9 > Number(nanos(bound))) {
      const text = `${key} max limit to request ratio per ${limit.type} is ${bound}, but provided ratio is ${ratio.toFixed(6)}`
      problems.push(text)
    }
  }
  return problems
}

function breach(check: {
  first: string | undefined
  second: string | undefined
  bound: string
  sign: 1 | -1
  names: readonly [string, string]
}): string | undefined {
  const { first, second, bound, sign, names } = check
  if (first === undefined) return `.  No ${names[0]} is specified`
  if (compareQuantities(first, bound) * sign > 0) return `, but ${names[0]} is ${first}`
  if (second !== undefined && compareQuantities(second, bound) * sign > 0) return `, but ${names[1]} is ${second}`
  return undefined
}
