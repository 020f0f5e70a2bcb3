import { cloneJson } from '#libs/kernel'
import type { Json, JsonObject } from '#libs/kube-model'
import { isObject } from '../schema/json-shape.ts'
import type { JsonSchema } from './json-schema.ts'

/**
 * Fills in the defaults of a schema, in place: where the field is missing, or null although it may not be. Defaults of
 * a part apply only where the part is there, be it by a default of its own.
 */
export function defaultCustom(schema: JsonSchema, value: Json | undefined): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) defaultCustom(schema.items, item)
  } else if (isObject(value)) defaultObject(schema, value)
}

function defaultObject(schema: JsonSchema, object: JsonObject): void {
  const { properties = {}, additionalProperties } = schema
  for (const [name, property] of Object.entries(properties)) {
    const current = object[name]
    const isUnset = current === undefined || (current === null && property.nullable !== true)
    if (isUnset && property.default !== undefined) object[name] = cloneJson(property.default)
    defaultCustom(property, object[name])
  }
  if (typeof additionalProperties !== 'object') return
  for (const [name, value] of Object.entries(object)) {
    if (Object.hasOwn(properties, name)) continue
    const isUnset = value === null && additionalProperties.nullable !== true
    if (isUnset && additionalProperties.default !== undefined) object[name] = cloneJson(additionalProperties.default)
    defaultCustom(additionalProperties, object[name])
  }
}
