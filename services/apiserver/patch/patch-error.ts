import type { Json, JsonObject } from '#libs/kube-model'

import { ApiError } from '../api-error.ts'
import { isObject } from '../schema/json-shape.ts'

/** The patched object cannot be read as its kind: 422 with the object, as the server wrote it, in the message. */
export function invalidPatch(patched: string, problem: string): ApiError {
  return ApiError.invalid({ group: '', kind: '' }, '', [
    {
      reason: 'FieldValueInvalid',
      field: 'patch',
      message: `Invalid value: ${JSON.stringify(patched)}: ${problem}`,
    },
  ])
}

/** A value in the notation of Go's `%v`, which the messages about strategic patches use. */
export function goValue(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`
  if (!isObject(value)) return String(value)
  const keys = Object.keys(value).sort()
  return `map[${keys.map((key) => `${key}:${goValue(value[key])}`).join(' ')}]`
}

const METADATA_ORDER = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
]

const MANAGED_FIELDS_ORDER = ['manager', 'operation', 'apiVersion', 'time', 'fieldsType', 'fieldsV1', 'subresource']

/**
 * A patched document as the server prints it in errors: fields of the document sorted, those of its metadata in the
 * API's order.
 */
export function patchedText(document: JsonObject): string {
  const ordered: JsonObject = {}
  for (const key of Object.keys(document).sort()) ordered[key] = document[key] ?? null
  const { metadata } = ordered
  if (isObject(metadata)) {
    const inOrder = pick(metadata, METADATA_ORDER)
    if (Array.isArray(metadata['managedFields'])) {
      inOrder['managedFields'] = metadata['managedFields'].map((entry) =>
        isObject(entry) ? pick(entry, MANAGED_FIELDS_ORDER) : entry,
      )
    }
    ordered['metadata'] = inOrder
  }
  return JSON.stringify(ordered)
}

function pick(object: JsonObject, order: readonly string[]): JsonObject {
  const result: JsonObject = {}
  for (const key of order) if (object[key] !== undefined) result[key] = object[key]
  for (const [key, value] of Object.entries(object)) if (!(key in result)) result[key] = value
  return result
}
