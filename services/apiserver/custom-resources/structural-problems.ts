import type { FieldProblem } from '../api-error.ts'
import { forbidden, notSupported, required } from '../strategy/field-problem.ts'
import { validateSchema } from './validate-schema.ts'
import type { JsonSchema } from './json-schema.ts'

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']

/**
 * What keeps a schema from being structural: every part has a type, and defaults fit.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
export function structuralProblems(schema: JsonSchema, field: string): FieldProblem[] {
  const nested = partProblems(schema, field)
  if (!schema.type) return [...nested, required(`${field}.type`, 'must not be empty at the root')]
  if (schema.type !== 'object') nested.push(notSupported(`${field}.type`, schema.type, ['object']))
  return nested
}

function partProblems(schema: JsonSchema, field: string): FieldProblem[] {
  const problems: FieldProblem[] = []
  if (schema.type && !TYPES.includes(schema.type)) problems.push(notSupported(`${field}.type`, schema.type, TYPES))
  if (schema.properties !== undefined && typeof schema.additionalProperties === 'object') {
    problems.push(
      forbidden(`${field}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'),
    )
  }
  for (const name of Object.keys(schema.properties ?? {}).sort()) {
    const property = schema.properties?.[name]
    if (property !== undefined)
      problems.push(...childProblems(property, `${field}.properties[${name}]`, 'object fields'))
  }
  if (typeof schema.additionalProperties === 'object') {
    const what = 'object fields'
    problems.push(...childProblems(schema.additionalProperties, `${field}.additionalProperties`, what))
  }
  if (schema.items !== undefined) problems.push(...childProblems(schema.items, `${field}.items`, 'array items'))
  else if (schema.type === 'array') problems.push(required(`${field}.items`, 'must be specified'))
  if (schema['x-kubernetes-list-type'] === 'map' && (schema['x-kubernetes-list-map-keys'] ?? []).length === 0) {
    const detail = 'must not be empty if x-kubernetes-list-type is map'
    problems.push(required(`${field}.x-kubernetes-list-map-keys`, detail))
  }
  if (schema.default !== undefined) problems.push(...defaultProblems(schema, field))
  return problems
}

function childProblems(schema: JsonSchema, field: string, what: string): FieldProblem[] {
  const isFree =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true
  const nested = partProblems(schema, field)
  if (schema.type || isFree) return nested
  return [...nested, required(`${field}.type`, `must not be empty for specified ${what}`)]
}

function defaultProblems(schema: JsonSchema, field: string): FieldProblem[] {
  return validateSchema(schema, schema.default ?? null, '').map((problem) => ({
    ...problem,
    field: `${field}.default${problem.field === '' ? '' : `.${problem.field}`}`,
  }))
}
