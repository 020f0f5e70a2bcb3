import type { Json, JsonObject } from '#libs/kube-model'

/** Whether a value is a JSON object: not null, not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value as an object; an empty one when it is something else. Not connected to its parent then. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** The objects in a list; none when the value is no list. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** The strings in a list; none when the value is no list. */
export function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** The value as a string; empty when it is none. */
export function asString(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The value as a number; `fallback` when it is none. */
export function asNumber(value: unknown, fallback = 0): number {
  return typeof value === 'number' ? value : fallback
}

/** The value at a path of object fields, such as `spec`, `template`, `metadata`. */
export function at(value: unknown, ...path: string[]): Json | undefined {
  let current: unknown = value
  for (const name of path) {
    if (!isObject(current)) return undefined
    current = current[name]
  }
  return current as Json | undefined
}

/** The object in a field, put there empty when it is missing or something else. */
export function ensureObject(parent: JsonObject, name: string): JsonObject {
  const value = parent[name]
  if (isObject(value)) return value
  const created: JsonObject = {}
  parent[name] = created
  return created
}

/** Sets a field that is missing or null. */
export function setDefault(parent: JsonObject, name: string, value: Json): void {
  if (parent[name] === undefined || parent[name] === null) parent[name] = value
}
