import { cloneJson } from '#libs/kernel'
import type { KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import type { ApiResource } from '../discovery/resources.ts'
import { asObject, at } from '../schema/json-shape.ts'
import { quantityText } from '../schema/quantity.ts'
import type { ClusterStore } from '../storage/store.ts'
import { countedResources, isInScope, nanos, unspecified, usageOf } from './quota-usage.ts'
import type { Usage } from './quota-usage.ts'

const QUOTAS = 'resourcequotas'

/** A quota with its use after the object that was asked about. */
export type QuotaCharge = { quota: KubeObject; used: Record<string, string> }

/**
 * Checks a new object against the quotas of its namespace.
 * @returns what to write to the quotas when the object is stored
 * @throws ApiError 403
 */
export function checkQuotas(
  store: ClusterStore,
  target: { resource: ApiResource; namespace: string },
  object: KubeObject,
): QuotaCharge[] {
  const { resource, namespace } = target
  if (namespace === '') return []
  return store.list(QUOTAS, namespace).flatMap(({ object: quota }) => {
    const hard = specHard(quota)
    const isCounted = countedResources(hard).has(resource.token) && isInScope(quota, resource.token, object)
    return isCounted ? [charge(store, { quota, hard, resource, object })] : []
  })
}

function charge(
  store: ClusterStore,
  subject: { quota: KubeObject; hard: Record<string, string>; resource: ApiResource; object: KubeObject },
): QuotaCharge {
  const { quota, hard, resource, object } = subject
  const name = quota.metadata.name ?? ''
  if (resource.token === 'pods') {
    const missing = [...unspecified(object, hard)].map(([amount, names]) => `${amount} for: ${names.join(',')}`)
    if (missing.length > 0) throw refused(resource, object, `failed quota: ${name}: must specify ${missing.join('; ')}`)
  }
  const asked = usageOf(resource.token, object)
  const used = knownUse(store, quota, hard)
  const exceeded: { key: string; delta: bigint; before: bigint }[] = []
  for (const key of Object.keys(hard).sort()) {
    const delta = asked.get(key) ?? 0n
    const before = used.get(key) ?? 0n
    if (delta > 0n && before + delta > nanos(hard[key])) exceeded.push({ key, delta, before })
    used.set(key, before + delta)
  }
  if (exceeded.length > 0) {
    const [requested, spent, limited] = [
      exceeded.map(({ key, delta }) => `${key}=${amountText(key, delta, hard)}`),
      exceeded.map(({ key, before }) => `${key}=${amountText(key, before, hard)}`),
      exceeded.map(({ key }) => `${key}=${hard[key] ?? ''}`),
    ].map((texts) => texts.join(','))
    throw refused(
      resource,
      object,
      `exceeded quota: ${name}, requested: ${requested ?? ''}, used: ${spent ?? ''}, limited: ${limited ?? ''}`,
    )
  }
  return { quota, used: usageTexts(used, hard) }
}

const refused = (resource: ApiResource, object: KubeObject, problem: string): ApiError =>
  ApiError.forbidden(resource, object.metadata.name ?? '', problem)

/** Writes the use of a stored object to its quotas. */
export function bookCharges(store: ClusterStore, charges: readonly QuotaCharge[]): void {
  for (const { quota, used } of charges) {
    const object = cloneJson(quota)
    object['status'] = { hard: specHard(quota), used }
    const { name = '', namespace = '' } = quota.metadata
    store.write({ type: 'MODIFIED', resource: QUOTAS, namespace, name, object })
  }
}

/** The objects of a resource in a namespace. */
export type ObjectLister = (token: string, namespace: string) => readonly KubeObject[]

/** The status of a quota, counted anew from the objects that are there. */
export function countQuota(
  list: ObjectLister,
  quota: KubeObject,
): { hard: Record<string, string>; used: Record<string, string> } {
  const hard = specHard(quota)
  return { hard, used: usageTexts(counted(list, quota, hard), hard) }
}

function counted(list: ObjectLister, quota: KubeObject, hard: Record<string, string>): Usage {
  const total: Usage = new Map()
  for (const token of countedResources(hard)) {
    for (const object of list(token, quota.metadata.namespace ?? '')) {
      if (!isInScope(quota, token, object)) continue
      for (const [key, amount] of usageOf(token, object)) total.set(key, (total.get(key) ?? 0n) + amount)
    }
  }
  return total
}

const listerOf =
  (store: ClusterStore): ObjectLister =>
  (token, namespace) =>
    store.list(token, namespace).map(({ object }) => object)

/** What the status says is used; counted when it does not say of everything. */
function knownUse(store: ClusterStore, quota: KubeObject, hard: Record<string, string>): Usage {
  const used = asObject(at(quota, 'status', 'used'))
  if (Object.keys(hard).some((key) => used[key] === undefined)) return counted(listerOf(store), quota, hard)
  return new Map(Object.entries(used).map(([key, text]) => [key, nanos(text)]))
}

const specHard = (quota: KubeObject): Record<string, string> =>
  asObject(at(quota, 'spec', 'hard')) as Record<string, string>

function usageTexts(used: Usage, hard: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.keys(hard)
      .sort()
      .map((key) => [key, amountText(key, used.get(key) ?? 0n, hard)]),
  )
}

/** Amounts of memory and storage are written in the limit's notation. */
const amountText = (key: string, amount: bigint, hard: Record<string, string>): string =>
  quantityText(amount, hard[key] ?? '')
