import { jsonEqual } from '#libs/kernel'
import type { Json } from '#libs/kube-model'
import { asObject } from './json.ts'

/** Maps that mean something else with every key that is added. */
const EXACT_FIELDS: ReadonlySet<string> = new Set(['matchLabels'])

/**
 * Whether `actual` says all that `wanted` says; what it says besides are defaults of the API that it comes from. Empty
 * says nothing, and the labels of a selector are all of them.
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
  return Object.entries(fields).every(([key, value]) =>
    EXACT_FIELDS.has(key) ? jsonEqual(own(present, key), value) : covers(own(present, key), value),
  )
}

function isEmpty(value: Json): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
}

function own(fields: Record<string, Json>, key: string): Json | undefined {
  return Object.hasOwn(fields, key) ? fields[key] : undefined
}
