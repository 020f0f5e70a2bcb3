import { cloneJson, jsonEqual } from '#libs/kernel'
import type { Json, JsonObject } from '#libs/kube-model'

import { ApiError } from '../api-error.ts'
import { asString, isObject } from '../schema/json-shape.ts'

const MAX_OPERATIONS = 10_000

/**
 * Applies a JSON patch (RFC 6902) and returns the result; the document is not changed. As upstream, `replace` may name
 * a field that does not exist yet. A body that is no list is a 400, an operation that cannot be carried out a 422.
 */
export function applyJsonPatch(document: JsonObject, operations: unknown): JsonObject {
  if (!Array.isArray(operations)) throw wrongBody(operations)
  if (operations.length > MAX_OPERATIONS) {
    throw new ApiError({
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
    })
  }
  const holder: JsonObject = { root: cloneJson(document) }
  for (const operation of operations) applyOperation(holder, operation)
  const { root } = holder
  if (!isObject(root)) throw ApiError.unprocessable()
  return root
}

function wrongBody(body: unknown): ApiError {
  const kind = body === null ? 'null' : typeof body === 'boolean' ? 'bool' : typeof body
  return ApiError.badRequest(
    `error decoding patch: json: cannot unmarshal ${kind} into Go value of type []handlers.jsonPatchOp`,
  )
}

function applyOperation(holder: JsonObject, operation: unknown): void {
  if (!isObject(operation)) throw ApiError.unprocessable()
  const path = pointer(operation['path'])
  switch (asString(operation['op'])) {
    case 'add':
      add(holder, path, valueOf(operation))
      return
    case 'remove':
      remove(holder, path)
      return
    case 'replace':
      replace(holder, path, valueOf(operation))
      return
    case 'move': {
      const from = pointer(operation['from'])
      const moved = read(holder, from)
      if (moved === undefined) throw ApiError.unprocessable()
      remove(holder, from)
      add(holder, path, moved)
      return
    }
    case 'copy': {
      const copied = read(holder, pointer(operation['from']))
      if (copied === undefined) throw ApiError.unprocessable()
      add(holder, path, cloneJson(copied))
      return
    }
    case 'test':
      if (!jsonEqual(read(holder, path) ?? null, operation['value'] ?? null)) throw ApiError.unprocessable()
      return
    default:
      throw ApiError.unprocessable()
  }
}

function valueOf(operation: JsonObject): Json {
  const { value } = operation
  if (value === undefined) throw ApiError.unprocessable()
  return cloneJson(value)
}

/** The steps of a JSON pointer, from the holder of the document on. */
function pointer(text: unknown): string[] {
  if (typeof text !== 'string' || (text !== '' && !text.startsWith('/'))) throw ApiError.unprocessable()
  const parts = text.split('/').slice(1)
  return ['root', ...parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))]
}

function read(holder: JsonObject, path: readonly string[]): Json | undefined {
  let current: Json | undefined = holder
  for (const step of path) current = child(current, step)
  return current
}

function child(parent: Json | undefined, step: string): Json | undefined {
  if (Array.isArray(parent)) return parent[listIndex(step)]
  return isObject(parent) && Object.hasOwn(parent, step) ? parent[step] : undefined
}

function parentOf(holder: JsonObject, path: readonly string[]): { parent: JsonObject | Json[]; key: string } {
  const parent = read(holder, path.slice(0, -1))
  if (!Array.isArray(parent) && !isObject(parent)) throw ApiError.unprocessable()
  return { parent, key: path.at(-1) ?? '' }
}

function listIndex(step: string): number {
  if (!/^(0|[1-9]\d*)$/.test(step)) throw ApiError.unprocessable()
  return Number(step)
}

function add(holder: JsonObject, path: readonly string[], value: Json): void {
  const { parent, key } = parentOf(holder, path)
  if (!Array.isArray(parent)) {
    setField(parent, key, value)
    return
  }
  const index = key === '-' ? parent.length : listIndex(key)
  if (index > parent.length) throw ApiError.unprocessable()
  parent.splice(index, 0, value)
}

function replace(holder: JsonObject, path: readonly string[], value: Json): void {
  const { parent, key } = parentOf(holder, path)
  if (!Array.isArray(parent)) {
    setField(parent, key, value)
    return
  }
  const index = listIndex(key)
  if (index >= parent.length) throw ApiError.unprocessable()
  parent[index] = value
}

function remove(holder: JsonObject, path: readonly string[]): void {
  const { parent, key } = parentOf(holder, path)
  if (Array.isArray(parent)) {
    const index = listIndex(key)
    if (index >= parent.length) throw ApiError.unprocessable()
    parent.splice(index, 1)
  } else {
    if (!Object.hasOwn(parent, key)) throw ApiError.unprocessable()
    delete parent[key]
  }
}

/** `__proto__` in a patch is a field like any other. */
function setField(object: JsonObject, key: string, value: Json): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}
