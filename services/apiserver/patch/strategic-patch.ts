import { cloneJson, jsonEqual } from '#libs/kernel'
import type { Json, JsonObject } from '#libs/kube-model'

import { ApiError } from '../api-error.ts'
import { isObject } from '../schema/json-shape.ts'
import { fieldOf, typeNameOf } from '../schema/schema.ts'
import type { FieldSchema, Gvk } from '../schema/schema.ts'
import {
  DELETE_FROM_PRIMITIVES,
  PATCH,
  RETAIN_KEYS,
  SET_ELEMENT_ORDER,
  dropDirectives,
  dropNulls,
} from './directives.ts'
import { checkElementOrder, orderElements } from './element-order.ts'
import { goValue, invalidPatch } from './patch-error.ts'
import { strategicTypeProblem } from './strategic-types.ts'

/**
 * Applies a strategic merge patch and returns the result; the document is not changed. Lists merge by the keys that the
 * kind's schema declares; the directives `$patch`, `$retainKeys`, `$setElementOrder` and `$deleteFromPrimitiveList` are
 * those of the API. Throws what a server answers: 400 for a body that is no object, 500 for directives it cannot
 * follow, 422 when the result is not of the kind's shape.
 */
export function applyStrategicMergePatch(document: JsonObject, patch: unknown, gvk: Gvk): JsonObject {
  if (!isObject(patch)) {
    const kind = Array.isArray(patch) ? 'array' : typeof patch === 'boolean' ? 'bool' : typeof patch
    throw ApiError.badRequest(`json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`)
  }
  const typeName = typeNameOf(gvk)
  const result = mergeObject(cloneJson(document), cloneJson(patch), typeName)
  const problem = strategicTypeProblem(typeName, result)
  if (problem !== undefined) throw invalidPatch(goValue(patch), problem)
  return result
}

function mergeObject(original: JsonObject, patch: JsonObject, typeName: string | undefined): JsonObject {
  const directive = patch[PATCH]
  if (directive !== undefined) {
    if (directive === 'replace') {
      delete patch[PATCH]
      return patch
    }
    if (directive === 'delete') return {}
    throw ApiError.internal(`unknown patch type: ${goValue(directive)} in map: ${goValue(patch)}`)
  }
  retainKeys(original, patch)
  mergeOrderedLists(original, patch, typeName)
  for (const [key, value] of Object.entries(patch)) mergeField(original, key, value, typeName)
  return original
}

function mergeField(original: JsonObject, key: string, value: Json, typeName: string | undefined): void {
  const isDeletion = key.startsWith(DELETE_FROM_PRIMITIVES)
  const name = isDeletion ? key.slice(DELETE_FROM_PRIMITIVES.length) : key
  if (value === null) {
    delete original[name]
    return
  }
  // No field of any kind; reading it would reach what all objects share.
  if (name === '__proto__') return
  const current = Object.hasOwn(original, name) ? original[name] : undefined
  const field = fieldOf(typeName, name)
  if (Array.isArray(current) && Array.isArray(value)) {
    original[name] = isDeletion
      ? current.filter((item) => !value.some((removed) => jsonEqual(item, removed)))
      : mergeList(current, value, field)
  } else if (isDeletion) {
    return
  } else if (isObject(current) && isObject(value)) {
    original[name] = mergesAsWhole(field) ? value : mergeObject(current, value, childType(field))
  } else if (current !== undefined && typeof current === typeof value && !isObject(value)) {
    original[name] = value
  } else {
    original[name] = dropDirectives(dropNulls(value))
  }
}

function strategies(field: FieldSchema | undefined): string[] {
  return field?.patchStrategy?.split(',') ?? []
}

function mergesAsWhole(field: FieldSchema | undefined): boolean {
  return strategies(field).includes('replace')
}

/** The type of the field's value, or of the values in its map. */
function childType(field: FieldSchema | undefined): string | undefined {
  return field?.ref ?? field?.items?.ref
}

function retainKeys(original: JsonObject, patch: JsonObject): void {
  const keys = patch[RETAIN_KEYS]
  if (keys === undefined) return
  delete patch[RETAIN_KEYS]
  const isSound =
    Array.isArray(keys) &&
    Object.entries(patch).every(([key, value]) => value === null || key.startsWith('$') || keys.includes(key))
  if (!isSound) {
    throw ApiError.badRequest('invalid patch format of retainKeys')
  }
  for (const key of Object.keys(original)) if (!keys.includes(key)) delete original[key]
}

function mergeOrderedLists(original: JsonObject, patch: JsonObject, typeName: string | undefined): void {
  for (const [key, order] of Object.entries(patch)) {
    if (!key.startsWith(SET_ELEMENT_ORDER)) continue
    delete patch[key]
    const name = key.slice(SET_ELEMENT_ORDER.length)
    const field = fieldOf(typeName, name)
    if (name === '__proto__') continue
    const current = original[name]
    const change = patch[name]
    if (!Array.isArray(order)) throw ApiError.badRequest('invalid patch format of setElementOrder list')
    const currentList = Array.isArray(current) ? current : undefined
    const changeList = Array.isArray(change) ? change : undefined
    if (currentList === undefined && changeList === undefined) continue
    const mergeKey = field?.patchMergeKey
    checkElementOrder(changeList ?? [], order, mergeKey)
    const serverOrder = [...(currentList ?? [])]
    const merged =
      currentList === undefined
        ? (changeList ?? [])
        : changeList === undefined
          ? currentList
          : mergeList(currentList, changeList, field)
    original[name] = orderElements({ merged, order, serverOrder, mergeKey })
    delete patch[name]
  }
}

function mergeList(original: Json[], patch: Json[], field: FieldSchema | undefined): Json[] {
  if (!strategies(field).includes('merge')) return patch
  if (original.length === 0 && patch.length === 0) return original
  const serverOrder = [...original]
  if (![...original, ...patch].every(isObject)) {
    const merged = [...original]
    for (const item of patch) if (!merged.some((known) => jsonEqual(known, item))) merged.push(item)
    return orderElements({ merged, order: patch, serverOrder, mergeKey: undefined })
  }
  const mergeKey = field?.patchMergeKey
  if (mergeKey === undefined) throw ApiError.internal('cannot merge lists without merge key')
  const special = applySpecialElements(original.filter(isObject), patch.filter(isObject), mergeKey)
  const merged = mergeElements(special.original, special.patch, { mergeKey, typeName: field?.items?.ref })
  return orderElements({ merged, order: special.patch, serverOrder, mergeKey })
}

/** Carries out `$patch` elements of a list: deletions, and the replacement of the whole list. */
function applySpecialElements(
  original: JsonObject[],
  patch: JsonObject[],
  mergeKey: string,
): { original: JsonObject[]; patch: JsonObject[] } {
  let kept = original
  let isReplaced = false
  const ordinary: JsonObject[] = []
  for (const item of patch) {
    const directive = item[PATCH]
    if (directive === undefined) ordinary.push(item)
    else if (directive === 'replace') isReplaced = true
    else if (directive === 'delete') {
      const value = item[mergeKey]
      if (value === undefined) throw missingKey(item, mergeKey)
      kept = kept.filter((known) => !jsonEqual(known[mergeKey], value))
    } else if (directive === 'merge') {
      throw ApiError.internal('merging lists cannot yet be specified in the patch')
    } else {
      throw ApiError.internal(`unknown patch type: ${goValue(directive)} in map: ${goValue(item)}`)
    }
  }
  return isReplaced ? { original: ordinary, patch: [] } : { original: kept, patch: ordinary }
}

function mergeElements(
  original: JsonObject[],
  patch: JsonObject[],
  options: { mergeKey: string; typeName: string | undefined },
): JsonObject[] {
  const { mergeKey, typeName } = options
  const merged = [...original]
  for (const item of patch) {
    const key = item[mergeKey]
    if (key === undefined) throw missingKey(item, mergeKey)
    const index = merged.findIndex((known) => jsonEqual(known[mergeKey], key))
    const known = merged[index]
    if (known === undefined) merged.push(dropDirectives(dropNulls(item)) as JsonObject)
    else merged[index] = mergeObject(known, item, typeName)
  }
  return merged
}

function missingKey(item: JsonObject, mergeKey: string): ApiError {
  return ApiError.internal(`map: ${goValue(item)} does not contain declared merge key: ${mergeKey}`)
}
