import type { Json, JsonObject, KubeObject } from '#libs/kube-model'

import { pruneCustom } from '../custom-resources/prune-custom.ts'
import { isObject } from './json-shape.ts'
import { canonicalQuantity } from './quantity.ts'
import { fieldOf, loadSchema, shortName, structOf, typeNameOf, WELL_KNOWN } from './schema.ts'
import type { FieldSchema, Gvk } from './schema.ts'
import { canonicalMicroTime, canonicalTime } from './time.ts'
import { dropsZero } from './zero-values.ts'

const FREE_FORM = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON'

/**
 * Brings an object into the form in which a server stores it, in place: unknown fields, nulls and empty values that
 * carry no meaning go; quantities and times become canonical. Of custom kinds the unknown fields go; kinds that are not
 * known are left as they are.
 */
export function pruneUnknown(gvk: Gvk, object: KubeObject | JsonObject): void {
  if (gvk.custom !== undefined) {
    pruneCustom(gvk.custom.schema, object as JsonObject)
    const { metadata } = object as JsonObject
    if (isObject(metadata)) pruneStruct(WELL_KNOWN.objectMeta, metadata)
    return
  }
  const typeName = typeNameOf(gvk)
  if (typeName !== undefined) pruneStruct(typeName, object as JsonObject)
}

function pruneStruct(typeName: string, object: JsonObject): void {
  const required = loadSchema().definitions[typeName]?.required
  const name = shortName(typeName)
  for (const key of Object.keys(object)) {
    const field = fieldOf(typeName, key)
    if (field === undefined) {
      delete object[key]
      continue
    }
    const pruned = pruneValue(field, object[key])
    if (pruned === undefined || (isEmpty(pruned, field, name, key) && !(required?.includes(key) ?? false))) {
      delete object[key]
    } else object[key] = pruned
  }
}

function isEmpty(value: Json, field: FieldSchema, typeShortName: string, key: string): boolean {
  // Free-form values, such as the default in a schema, mean what they say.
  if (field.ref === FREE_FORM) return false
  if (Array.isArray(value)) return value.length === 0
  if (isObject(value)) return field.type === 'map' && Object.keys(value).length === 0
  if (value === '' || value === 0 || value === false) {
    return field.default === undefined && dropsZero(typeShortName, key, value)
  }
  return false
}

function pruneValue(field: FieldSchema, value: Json | undefined): Json | undefined {
  if (value === null || value === undefined) return undefined
  if (field.ref !== undefined) return pruneRef(field.ref, value)
  const { items } = field
  if (items === undefined) return value
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const pruned = pruneValue(items, item)
      if (pruned !== undefined) value[index] = pruned
    }
  } else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      const pruned = pruneValue(items, item)
      if (pruned !== undefined) value[key] = pruned
      else if (items.type === 'string') value[key] = ''
    }
  }
  return value
}

function pruneRef(ref: string, value: Json): Json {
  if (ref === WELL_KNOWN.quantity) {
    return typeof value === 'string' || typeof value === 'number' ? canonicalQuantity(value) : value
  }
  if (ref === WELL_KNOWN.time) return typeof value === 'string' ? canonicalTime(value) : value
  if (ref === WELL_KNOWN.microTime) return typeof value === 'string' ? canonicalMicroTime(value) : value
  if (isObject(value) && structOf(ref) !== undefined) pruneStruct(ref, value)
  return value
}
