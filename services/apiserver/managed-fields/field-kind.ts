import type { Json, JsonObject } from '#libs/kube-model'

import { isObject } from '../schema/json-shape.ts'
import { fieldOf, loadSchema, structOf } from '../schema/schema.ts'
import type { FieldSchema } from '../schema/schema.ts'

/** How the parts of a value are owned. `leaf`: as a whole. */
export type FieldKind = 'object' | 'keyed list' | 'set' | 'leaf'

/** How a value of a field is owned. Without a schema objects are owned by field and lists as a whole. */
export function kindOf(field: FieldSchema | undefined, value: Json | undefined): FieldKind {
  if (Array.isArray(value)) {
    if (field?.listType === 'map') return 'keyed list'
    return field?.listType === 'set' ? 'set' : 'leaf'
  }
  if (!isObject(value)) return 'leaf'
  if (field === undefined) return 'object'
  if (field.mapType === 'atomic') return 'leaf'
  if (field.fields !== undefined || field.preserveUnknownFields === true) return 'object'
  if (field.ref === undefined) return field.type === 'map' ? 'object' : 'leaf'
  const definition = loadSchema().definitions[field.ref]
  return definition?.fields !== undefined && definition.mapType !== 'atomic' ? 'object' : 'leaf'
}

/** The schema of a field of an object that is described by `field`. */
export function childField(field: FieldSchema | undefined, name: string): FieldSchema | undefined {
  if (field === undefined) return undefined
  if (field.fields !== undefined) return Object.hasOwn(field.fields, name) ? field.fields[name] : undefined
  if (field.ref === undefined) return field.items
  return structOf(field.ref) === undefined ? undefined : fieldOf(field.ref, name)
}

/** The step to an element of a keyed list or set. */
export function elementStep(field: FieldSchema | undefined, element: Json): string {
  if (!isObject(element) || field?.listType !== 'map') return `v:${JSON.stringify(element)}`
  const key: JsonObject = {}
  for (const name of [...(field.listMapKeys ?? [])].sort()) {
    const value = element[name] ?? (field.items === undefined ? undefined : childField(field.items, name)?.default)
    if (value !== undefined) key[name] = value
  }
  return `k:${JSON.stringify(key)}`
}

/** The parts of a value with the steps that lead to them. */
export function partsOf(
  field: FieldSchema | undefined,
  value: Json | undefined,
): Map<string, { field: FieldSchema | undefined; value: Json }> {
  const parts = new Map<string, { field: FieldSchema | undefined; value: Json }>()
  if (Array.isArray(value)) {
    for (const item of value) parts.set(elementStep(field, item), { field: field?.items, value: item })
  } else if (isObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      parts.set(`f:${name}`, { field: childField(field, name), value: item })
    }
  }
  return parts
}
