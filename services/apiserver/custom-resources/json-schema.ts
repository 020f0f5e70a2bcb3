import type { Json } from '#libs/kube-model'

export type ValidationRule = {
  rule: string
  message?: string
  messageExpression?: string
  reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate'
  fieldPath?: string
  optionalOldSelf?: boolean
}

/** A structural schema as CustomResourceDefinitions carry it. */
export type JsonSchema = {
  type?: string
  format?: string
  description?: string
  default?: Json
  nullable?: boolean
  enum?: Json[]
  properties?: Record<string, JsonSchema>
  additionalProperties?: JsonSchema | boolean
  items?: JsonSchema
  required?: string[]
  minimum?: number
  maximum?: number
  exclusiveMinimum?: boolean
  exclusiveMaximum?: boolean
  multipleOf?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  minProperties?: number
  maxProperties?: number
  allOf?: JsonSchema[]
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  not?: JsonSchema
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-embedded-resource'?: boolean
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  'x-kubernetes-list-map-keys'?: string[]
  'x-kubernetes-map-type'?: 'atomic' | 'granular'
  'x-kubernetes-validations'?: ValidationRule[]
}

/** Whether values of the schema keep fields that it does not name. */
export function keepsUnknown(schema: JsonSchema): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true
}

/** The schema of an object's field: a property, else what additional properties must be. */
export function propertySchema(schema: JsonSchema, name: string): JsonSchema | undefined {
  const { properties, additionalProperties } = schema
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name]
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

/** Whether any part of the schema has rules that are expressions. */
export function hasRules(schema: JsonSchema): boolean {
  if ((schema['x-kubernetes-validations'] ?? []).length > 0) return true
  const { items, additionalProperties, properties } = schema
  if (items !== undefined && hasRules(items)) return true
  if (typeof additionalProperties === 'object' && hasRules(additionalProperties)) return true
  return Object.values(properties ?? {}).some((property) => hasRules(property))
}
