import { cloneJson, jsonEqual } from '#libs/kernel'
import { type JsonObject, type ObjectRef, RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { asName, asObject, objectsIn, presentFields } from '../../json.ts'
import type { PairInput, TranslateInput } from '../../kind.ts'
import { observedGeneration } from '../../generation.ts'
import { contentOf } from '../../owned-fields.ts'
import { hostLabelSelector } from '../../selectors.ts'
import { virtualRefOf } from '../../stamps.ts'
import { type Content, ownedKind } from '../owned-kind.ts'
import { hostNamespaceFor } from '../../names.ts'

/** PodDisruptionBudgets cross, for the tenant's pods of their namespace alone; how many may be disrupted comes back. */
export const podDisruptionBudgets = ownedKind({
  resource: RESOURCES['poddisruptionbudgets.policy'],
  version: 3,
  isEnabled: (config) => isEnabled(config, 'toHost', 'podDisruptionBudgets'),
  content,
  status: statusBack,
  // The tenant's own controller may say the same, at another time.
  saysSame: (desired, current) => jsonEqual(untimed(desired), untimed(current)),
})

function content({ virtual, tenant }: TranslateInput): Content {
  const fields = cloneJson(contentOf(virtual))
  const spec = asObject(fields.spec)
  const selector = asObject(spec?.selector)
  // Without a selector it holds for no pod, on either side.
  if (spec !== undefined && selector !== undefined) {
    const namespace = virtual.metadata.namespace ?? ''
    spec.selector = hostLabelSelector(selector, { kind: 'one', namespace }, tenant)
  }
  return { kind: 'content', fields }
}

function statusBack(input: PairInput): JsonObject | undefined {
  const status = asObject(input.host.status)
  if (status?.observedGeneration === undefined) return undefined
  return presentFields({
    ...cloneJson(status),
    observedGeneration: observedGeneration(status.observedGeneration, input),
    disruptedPods: disruptedPods(status.disruptedPods, input),
    conditions: status.conditions === undefined ? undefined : conditionsOf(status.conditions, input),
  })
}

/** Keyed by pod: by its name in the tenant. Pods that the tenant does not have are left out. */
function disruptedPods(pods: unknown, { virtual, tenant, related }: PairInput): JsonObject | undefined {
  const entries = Object.entries(asObject(pods) ?? {}).flatMap(([name, since]) => {
    const namespace = hostNamespaceFor(virtual.metadata.namespace ?? '', tenant)
    const ref: ObjectRef = { resource: 'pods', namespace, name }
    const copy = related.host(ref)
    const original = copy === undefined ? undefined : asName(virtualRefOf(copy)?.ref.name)
    return original === undefined ? [] : [[original, since]]
  })
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as JsonObject)
}

function conditionsOf(conditions: unknown, input: PairInput): JsonObject[] {
  return objectsIn(conditions).map((condition) => {
    const { observedGeneration: observed, ...rest } = cloneJson(condition)
    return presentFields({ ...rest, observedGeneration: observedGeneration(observed, input) }) ?? {}
  })
}

function untimed(status: JsonObject): JsonObject {
  const conditions = objectsIn(status.conditions).map(({ lastTransitionTime: _time, ...condition }) => condition)
  return { ...status, conditions }
}
