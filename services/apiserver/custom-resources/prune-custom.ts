import type { Json, JsonObject } from '#libs/kube-model'
import { isObject } from '../schema/json-shape.ts'
import type { JsonSchema } from './json-schema.ts'
import { keepsUnknown, propertySchema } from './json-schema.ts'

const IDENTITY = new Set(['apiVersion', 'kind', 'metadata'])

/**
 * Takes out of a custom object, in place, the fields that its schema does not name. Type, name and metadata are not
 * the schema's.
 * @returns the paths that went, in the order of the document
 */
export function pruneCustom(schema: JsonSchema, object: JsonObject): string[] {
  const removed: string[] = []
  pruneObject({ schema, object, path: '', isResource: true }, removed)
  return removed
}

/** The paths that {@link pruneCustom} would take out; nothing is changed. */
export function unknownFields(schema: JsonSchema, object: JsonObject): string[] {
  return pruneCustom(schema, structuredClone(object))
}

type Place = { schema: JsonSchema; object: JsonObject; path: string; isResource: boolean }

function pruneObject({ schema, object, path, isResource }: Place, removed: string[]): void {
  for (const [name, value] of Object.entries(object)) {
    if (isResource && IDENTITY.has(name)) continue
    const child = propertySchema(schema, name)
    const childPath = path === '' ? name : `${path}.${name}`
    if (child !== undefined) pruneValue(child, value, childPath, removed)
    else if (!keepsUnknown(schema)) {
      delete object[name]
      removed.push(childPath)
    }
  }
}

// oxlint-disable-next-line max-params -- a step of a walk
function pruneValue(schema: JsonSchema, value: Json, path: string, removed: string[]): void {
  if (Array.isArray(value)) {
    const { items } = schema
    if (items === undefined) return
    for (const [index, item] of value.entries()) pruneValue(items, item, `${path}[${index}]`, removed)
  } else if (isObject(value)) {
    const isResource = schema['x-kubernetes-embedded-resource'] === true
    pruneObject({ schema, object: value, path, isResource }, removed)
  }
}
