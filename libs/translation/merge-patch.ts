import { jsonEqual } from '#libs/kernel'
import type { Json, JsonObject } from '#libs/kube-model'
import { asObject } from './json.ts'

/**
 * The merge patch (RFC 7386) that turns `current` into `desired`; `undefined` when they are the same. Lists are
 * replaced as a whole.
 */
export function mergePatchOf(current: JsonObject, desired: JsonObject): JsonObject | undefined {
  const entries: [string, Json][] = []
  for (const key of Object.keys(current)) if (!Object.hasOwn(desired, key)) entries.push([key, null])
  for (const [key, value] of Object.entries(desired)) {
    const before = Object.hasOwn(current, key) ? current[key] : undefined
    if (jsonEqual(before, value)) continue
    const from = asObject(before)
    const to = asObject(value)
    entries.push([key, from !== undefined && to !== undefined ? (mergePatchOf(from, to) ?? {}) : value])
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}
