import { cloneJson } from '#libs/kernel'
import type { Json, JsonObject } from '#libs/kube-model'

import { isObject } from '../schema/json-shape.ts'
import type { FieldSchema } from '../schema/schema.ts'
import { childField, elementStep, kindOf } from './field-kind.ts'
import type { FieldSet } from './field-set.ts'

/** An object with an applied configuration laid over it. Neither is changed. */
export function mergeApplied(live: Json | undefined, applied: Json, field: FieldSchema | undefined): Json {
  const kind = kindOf(field, applied)
  if (live === undefined || live === null || kind === 'leaf' || kindOf(field, live) !== kind) return cloneJson(applied)
  if (Array.isArray(live) && Array.isArray(applied)) return mergeLists(live, applied, field)
  if (!isObject(live) || !isObject(applied)) return cloneJson(applied)
  const merged: JsonObject = { ...live }
  for (const [name, value] of Object.entries(applied)) {
    merged[name] = mergeApplied(live[name], value, childField(field, name))
  }
  return merged
}

/** Elements keep their places; new ones go to the end. */
function mergeLists(live: readonly Json[], applied: readonly Json[], field: FieldSchema | undefined): Json[] {
  const wanted = new Map(applied.map((item) => [elementStep(field, item), item]))
  const merged = live.map((item) => {
    const step = elementStep(field, item)
    const change = wanted.get(step)
    wanted.delete(step)
    return change === undefined ? item : mergeApplied(item, change, field?.items)
  })
  return [...merged, ...[...wanted.values()].map((item) => cloneJson(item))]
}

/**
 * Takes out of a value what a manager owned before and does not claim any more, unless another manager owns it.
 * `undefined`: nothing is left. `others` are the sets of the other managers at this place.
 */
export function removeUnclaimed(
  value: Json,
  sets: { former: FieldSet; claimed: FieldSet | undefined; others: readonly FieldSet[] },
  field: FieldSchema | undefined,
): Json {
  if (kindOf(field, value) === 'leaf') return value
  const below = (step: string): Parameters<typeof removeUnclaimed>[1] | undefined => {
    const former = sets.former.children.get(step)
    if (former === undefined) return undefined
    const others = sets.others.flatMap((other) => other.children.get(step) ?? [])
    return { former, claimed: sets.claimed?.children.get(step), others }
  }
  const isUnclaimed = (inner: NonNullable<ReturnType<typeof below>>): boolean =>
    inner.claimed === undefined && inner.others.length === 0
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const inner = below(elementStep(field, item))
      if (inner === undefined) return [item]
      return isUnclaimed(inner) ? [] : [removeUnclaimed(item, inner, field?.items)]
    })
  }
  if (!isObject(value)) return value
  const result: JsonObject = {}
  for (const [name, item] of Object.entries(value)) {
    const inner = below(`f:${name}`)
    if (inner === undefined) result[name] = item
    // An object without metadata is none.
    else if (name === 'metadata' || !isUnclaimed(inner))
      result[name] = removeUnclaimed(item, inner, childField(field, name))
  }
  return result
}
