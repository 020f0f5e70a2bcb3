import type { Json, JsonObject } from '#libs/kube-model'

import { isObject } from '../schema/json-shape.ts'

export const PATCH = '$patch'
export const RETAIN_KEYS = '$retainKeys'
export const SET_ELEMENT_ORDER = '$setElementOrder/'
export const DELETE_FROM_PRIMITIVES = '$deleteFromPrimitiveList/'

function isDirective(key: string): boolean {
  return (
    key === PATCH || key === RETAIN_KEYS || key.startsWith(SET_ELEMENT_ORDER) || key.startsWith(DELETE_FROM_PRIMITIVES)
  )
}

/** The value of a new field without directives, which have nothing to act on there. */
export function dropDirectives(value: Json): Json {
  if (Array.isArray(value)) {
    return value.filter((item) => !isObject(item) || item[PATCH] === undefined).map(dropDirectives)
  }
  if (!isObject(value)) return value
  const result: JsonObject = {}
  for (const [key, item] of Object.entries(value)) if (!isDirective(key)) result[key] = dropDirectives(item)
  return result
}

/** The value of a new field without nulls, which would remove fields that are not there. */
export function dropNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(dropNulls)
  if (!isObject(value)) return value
  const result: JsonObject = {}
  for (const [key, item] of Object.entries(value)) if (item !== null) result[key] = dropNulls(item)
  return result
}
