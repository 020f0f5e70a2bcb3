import { WELL_KNOWN } from '../schema/schema.ts'
import type { FieldSchema } from '../schema/schema.ts'
import type { JsonSchema } from './json-schema.ts'
import { keepsUnknown } from './json-schema.ts'

const META: Readonly<Record<string, FieldSchema>> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { ref: WELL_KNOWN.objectMeta },
}

/** A custom kind in the terms in which ownership of fields is tracked. `hasStatus`: the status is written apart. */
export function typeOfKind(schema: JsonSchema, hasStatus: boolean): FieldSchema {
  const field = fieldOfSchema(schema)
  return {
    ...field,
    type: 'object',
    fields: { ...field.fields, ...META },
    ...(hasStatus ? {} : { hasPlainStatus: true }),
  }
}

function fieldOfSchema(schema: JsonSchema): FieldSchema {
  if (schema['x-kubernetes-int-or-string'] === true) return { intOrString: true }
  if (schema.type === 'array') return listField(schema)
  if (schema.type !== 'object' && schema.properties === undefined && !keepsUnknown(schema)) {
    return schema.type === undefined ? {} : { type: schema.type }
  }
  const mapType = schema['x-kubernetes-map-type']
  const common: FieldSchema = mapType === undefined ? {} : { mapType }
  if (typeof schema.additionalProperties === 'object') {
    return { ...common, type: 'map', items: fieldOfSchema(schema.additionalProperties) }
  }
  const properties = Object.entries(schema.properties ?? {}).map(([name, value]) => [name, fieldOfSchema(value)])
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  return {
    ...common,
    type: 'object',
    fields: { ...(Object.fromEntries(properties) as Record<string, FieldSchema>), ...(isEmbedded ? META : {}) },
    ...(keepsUnknown(schema) ? { preserveUnknownFields: true } : {}),
  }
}

function listField(schema: JsonSchema): FieldSchema {
  const listType = schema['x-kubernetes-list-type']
  const listMapKeys = schema['x-kubernetes-list-map-keys']
  const items = schema.items === undefined ? undefined : withDefaults(fieldOfSchema(schema.items), schema.items)
  return {
    type: 'array',
    ...(items === undefined ? {} : { items }),
    ...(listType === undefined ? {} : { listType }),
    ...(listMapKeys === undefined ? {} : { listMapKeys }),
  }
}

/** Keys of list elements may be left to their defaults. */
function withDefaults(field: FieldSchema, schema: JsonSchema): FieldSchema {
  if (field.fields === undefined) return field
  const fields = Object.entries(field.fields).map(([name, child]): [string, FieldSchema] => {
    const value = schema.properties?.[name]?.default
    return [name, value === undefined ? child : { ...child, default: value }]
  })
  return { ...field, fields: Object.fromEntries(fields) }
}
