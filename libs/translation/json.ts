import type { JsonObject } from '#libs/kube-model'

/*
 * Reads of values that a tenant's API chose: nothing about their shape is taken for granted, and a value of another
 * shape reads as absent.
 */

/** The value as an object, or `undefined`. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
}

/** The objects in a list; empty for anything else. The elements are the originals, not copies. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? (value.filter((item) => asObject(item) !== undefined) as JsonObject[]) : []
}

/** The value as a non-empty string, or `undefined`. */
export function asName(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The string values of a map such as labels; empty for anything else. */
export function stringMap(value: unknown): Record<string, string> {
  const entries = Object.entries(asObject(value) ?? {}).filter((entry) => typeof entry[1] === 'string')
  return Object.fromEntries(entries) as Record<string, string>
}

/** The object without the fields that are `undefined`, or `undefined` when nothing is left. */
export function presentFields(fields: Record<string, unknown>): JsonObject | undefined {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return present.length === 0 ? undefined : (Object.fromEntries(present) as JsonObject)
}

/** A string or number as text; empty for anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
