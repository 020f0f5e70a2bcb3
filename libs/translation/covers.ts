import { jsonEqual } from '#libs/kernel'
import type { Json } from '#libs/kube-model'
import { asObject } from './json.ts'

/** Marks of a label selector: it means something else with everything that is added. */
const SELECTOR_FIELDS = ['matchLabels', 'matchExpressions'] as const

/**
 * Whether `actual` says all that `wanted` says; what it says besides are defaults of the API that it comes from. Empty
 * says nothing, and a label selector must be the same.
 */
export function covers(actual: Json | undefined, wanted: Json): boolean {
  if (actual === undefined && isEmpty(wanted)) return true
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(actual) && actual.length === wanted.length && wanted.every((item, at) => covers(actual[at], item))
    )
  }
  const fields = asObject(wanted)
  if (fields === undefined) return jsonEqual(actual, wanted)
  const present = asObject(actual)
  if (present === undefined) return false
  if (SELECTOR_FIELDS.some((field) => Object.hasOwn(fields, field))) return jsonEqual(present, fields)
  return Object.entries(fields).every(([key, value]) => covers(own(present, key), value))
}

function isEmpty(value: Json): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
}

function own(fields: Record<string, Json>, key: string): Json | undefined {
  return Object.hasOwn(fields, key) ? fields[key] : undefined
}
