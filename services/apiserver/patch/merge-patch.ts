import { cloneJson } from '#libs/kernel'
import type { Json, JsonObject } from '#libs/kube-model'

import { ApiError } from '../api-error.ts'
import { isObject } from '../schema/json-shape.ts'

/**
 * Applies a merge patch (RFC 7396) and returns the result; the document is not changed. A body that is no object is a
 * 400.
 */
export function applyMergePatch(document: JsonObject, patch: unknown): JsonObject {
  if (!isObject(patch)) {
    const kind = Array.isArray(patch) ? 'array' : typeof patch === 'boolean' ? 'bool' : typeof patch
    throw ApiError.badRequest(
      `error decoding patch: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
    )
  }
  return merge(document, patch)
}

function merge(document: JsonObject, patch: JsonObject): JsonObject {
  const result: JsonObject = { ...document }
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) {
      delete result[key]
      continue
    }
    // No field of any kind; setting it would change what the object is.
    if (key === '__proto__') continue
    const current = Object.hasOwn(result, key) ? result[key] : undefined
    result[key] = isObject(value) ? merge(isObject(current) ? current : {}, value) : cloneJson(value as Json)
  }
  return result
}
