import { cloneJson, jsonEqual } from '#libs/kernel'
import type { Json, JsonObject, KubeObject } from '#libs/kube-model'
import { asName, asObject, objectsIn, textOf } from '../../json.ts'
import type { PairInput } from '../../kind.ts'
import { tenantText } from '../../tenant-text.ts'
import { CONTAINER_LISTS, specOf, statusOf } from './fields.ts'
import { podReferences } from './references.ts'

type StatusInput = Pick<PairInput, 'virtual' | 'host' | 'tenant'>

const STATUS_LISTS = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const

/**
 * The status that the tenant's pod is to have: the copy's, with what belongs to the tenant kept. `undefined` when the
 * tenant's pod has it already, or when the copy has none to give.
 */
export function statusBack(input: StatusInput): JsonObject | undefined {
  const { virtual, host } = input
  const current = statusOf(virtual)
  if (statusOf(host).phase === undefined || unterminates(current, statusOf(host))) return undefined
  const desired = desiredStatus(input)
  const seen = assumeBound(current, host)
  return jsonEqual(comparable(desired), comparable(seen)) ? undefined : desired
}

function desiredStatus(input: StatusInput): JsonObject {
  const { virtual, host } = input
  const current = statusOf(virtual)
  const desired = cloneJson(statusOf(host))
  delete desired.qosClass
  if (current.qosClass !== undefined) desired.qosClass = current.qosClass
  // Claims are the tenant's: their names on the host mean nothing to it.
  delete desired.resourceClaimStatuses
  if (current.resourceClaimStatuses !== undefined)
    desired.resourceClaimStatuses = cloneJson(current.resourceClaimStatuses)
  mapGeneration(desired, virtual, host)
  for (const list of STATUS_LISTS) dropInjected(desired, list, virtual)
  const conditions = mergeConditions(virtual, host, desired)
  if (conditions.length > 0) desired.conditions = conditions
  return withoutHostNames(desired, input)
}

/** The copy's conditions; those of the tenant's readiness gates are the tenant's own. */
function mergeConditions(virtual: KubeObject, host: KubeObject, desired: JsonObject): JsonObject[] {
  const gates = readinessGates(virtual)
  const own = objectsIn(statusOf(virtual).conditions)
  const fromHost = objectsIn(desired.conditions).filter((condition) => !gates.has(textOf(condition.type)))
  for (const condition of fromHost) {
    if (condition.observedGeneration !== undefined) mapGeneration(condition, virtual, host)
  }
  const kept = own.filter((condition) => gates.has(textOf(condition.type)))
  // A copy that was created on its node never got the condition that binding leaves on the tenant's pod.
  if (isBound(host) && !fromHost.some((condition) => condition.type === 'PodScheduled')) {
    kept.push(...own.filter((condition) => condition.type === 'PodScheduled'))
  }
  return [...fromHost, ...cloneJson(kept)]
}

/** The types of the conditions that the tenant itself sets. */
export function readinessGates(virtual: KubeObject): Set<string> {
  return new Set(objectsIn(specOf(virtual).readinessGates).flatMap((gate) => asName(gate.conditionType) ?? []))
}

/** Generations are counted by each API on its own. */
function mapGeneration(holder: JsonObject, virtual: KubeObject, host: KubeObject): void {
  const observed = holder.observedGeneration
  if (typeof observed !== 'number') return
  const generation = virtual.metadata.generation
  if (generation === undefined) delete holder.observedGeneration
  else
    holder.observedGeneration = observed >= (host.metadata.generation ?? 0) ? generation : Math.max(generation - 1, 0)
}

/** Leaves out the status of containers that webhooks of the host added. */
function dropInjected(status: JsonObject, list: (typeof STATUS_LISTS)[number], virtual: KubeObject): void {
  if (status[list] === undefined) return
  const spec = specOf(virtual)
  const names = new Set(CONTAINER_LISTS.flatMap((containers) => objectsIn(spec[containers])).map(({ name }) => name))
  const own = objectsIn(status[list]).filter((container) => names.has(container.name ?? null))
  // APIs keep no empty lists: one would never compare as equal.
  if (own.length > 0) status[list] = own
  else delete status[list]
}

/** Messages name the pod and what it uses as the host has them: the tenant reads its own names. */
function withoutHostNames(status: JsonObject, { virtual, host, tenant }: StatusInput): JsonObject {
  const about = { tenant, original: virtual, copy: host, references: podReferences({ virtual }) }
  const rewrite = (value: Json, key = ''): Json => {
    if (typeof value === 'string') return key === 'message' ? tenantText(value, about) : value
    if (Array.isArray(value)) return value.map((item) => rewrite(item))
    const object = asObject(value)
    if (object === undefined) return value
    return Object.fromEntries(Object.entries(object).map(([field, inner]) => [field, rewrite(inner, field)]))
  }
  return rewrite(status) as JsonObject
}

function isBound(pod: KubeObject): boolean {
  return asName(specOf(pod).nodeName) !== undefined
}

/** A pod that has ended stays so. */
function unterminates(current: JsonObject, next: JsonObject): boolean {
  const hasEnded = (phase: unknown): boolean => phase === 'Succeeded' || phase === 'Failed'
  return hasEnded(current.phase) && !hasEnded(next.phase)
}

/** What the tenant's API itself makes of the status when the pod is bound; no patch needs to repeat it. */
function assumeBound(current: JsonObject, host: KubeObject): JsonObject {
  const conditions = objectsIn(current.conditions)
  if (!isBound(host) || conditions.some(({ type, status }) => type === 'PodScheduled' && status === 'True'))
    return current
  const others = conditions.filter(({ type }) => type !== 'PodScheduled')
  return { ...current, conditions: [...others, { type: 'PodScheduled', status: 'True' }] }
}

/**
 * The form in which two statuses are compared. Each API stamps PodScheduled when it binds, so that its times always
 * differ; whether generations are counted at all differs too. The order of conditions means nothing.
 */
function comparable(status: JsonObject): JsonObject {
  const { observedGeneration: _observed, conditions: _conditions, ...rest } = status
  const conditions: JsonObject = {}
  for (const condition of objectsIn(status.conditions)) {
    const { observedGeneration: _generation, lastTransitionTime, lastProbeTime, ...said } = condition
    const timed = condition.type !== 'PodScheduled' && lastTransitionTime !== undefined
    conditions[textOf(condition.type)] = {
      ...said,
      ...(timed ? { lastTransitionTime } : {}),
      ...(timed && lastProbeTime != null ? { lastProbeTime } : {}),
    }
  }
  return { ...rest, conditions }
}
