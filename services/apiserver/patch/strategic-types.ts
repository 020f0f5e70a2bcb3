import type { Json, JsonObject } from '#libs/kube-model'

import { isObject } from '../schema/json-shape.ts'
import { fieldOf, structOf } from '../schema/schema.ts'
import type { FieldSchema } from '../schema/schema.ts'

/** What keeps a strategically patched document from being its kind, in the words of upstream's converter. */
export function strategicTypeProblem(typeName: string | undefined, document: JsonObject): string | undefined {
  if (structOf(typeName) === undefined) return undefined
  for (const key of Object.keys(document).sort()) {
    const field = fieldOf(typeName, key)
    const problem = field === undefined ? undefined : valueProblem(field, document[key])
    if (problem !== undefined) return problem
  }
  return undefined
}

function valueProblem(field: FieldSchema, value: Json | undefined): string | undefined {
  if (value === null || value === undefined) return undefined
  if (field.ref !== undefined) {
    if (structOf(field.ref) === undefined) return undefined
    return isObject(value) ? strategicTypeProblem(field.ref, value) : `cannot restore struct from: ${kindOf(value)}`
  }
  switch (field.type ?? '') {
    case 'array': {
      if (!Array.isArray(value)) return `cannot restore slice from ${kindOf(value)}`
      return firstProblem(field.items, value)
    }
    case 'map':
      if (!isObject(value)) return `cannot restore map from ${kindOf(value)}`
      return firstProblem(field.items, Object.values(value))
    case 'integer':
      return typeof value === 'number' ? undefined : `unrecognized type: ${field.format ?? 'int64'}`
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'unrecognized type: bool'
    case 'string':
      return typeof value === 'string' || field.format === 'byte' ? undefined : 'unrecognized type: string'
    default:
      return undefined
  }
}

function firstProblem(items: FieldSchema | undefined, values: readonly Json[]): string | undefined {
  if (items === undefined) return undefined
  for (const value of values) {
    const problem = valueProblem(items, value)
    if (problem !== undefined) return problem
  }
  return undefined
}

function kindOf(value: Json): string {
  if (Array.isArray(value)) return 'slice'
  if (isObject(value)) return 'map'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
