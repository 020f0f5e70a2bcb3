import { cloneJson, jsonEqual } from '#libs/kernel'
import type { Json, JsonObject, KubeObject } from '#libs/kube-model'
import type { FieldProblem } from '../api-error.ts'
import { subdomainProblems } from '../strategy/names.ts'
import type { Strategy } from '../strategy/strategy.ts'
import { validateMetadata, validateMetadataUpdate } from '../strategy/validate-metadata.ts'
import type { JsonSchema } from './json-schema.ts'
import { hasRules } from './json-schema.ts'
import { ruleProblems } from './validate-rules.ts'
import { duplicateProblems, validateSchema } from './validate-schema.ts'

/** Problems after which rules are not looked at: they may rely on the shape. */
const BLOCKING = new Set<FieldProblem['reason']>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

const NOT_CHECKED: FieldProblem = {
  reason: 'FieldValueInvalid',
  field: '<nil>',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
}

/** The strategy of a custom kind. `hasStatus`: the status is written through its subresource only. */
export function customStrategy(schema: JsonSchema, hasStatus: boolean): Strategy {
  const isRuled = hasRules(schema)
  return {
    prepareCreate: (object) => {
      object.metadata.generation = 1
      if (hasStatus) delete object['status']
    },
    prepareUpdate: (next, previous) => {
      if (hasStatus) {
        if (previous['status'] === undefined) delete next['status']
        else next['status'] = cloneJson(previous['status'])
      }
      const before = previous.metadata.generation ?? 1
      next.metadata.generation = sameContent(next, previous, hasStatus) ? before : before + 1
    },
    prepareStatusUpdate: (next, previous) => {
      for (const name of new Set([...Object.keys(next), ...Object.keys(previous)])) {
        if (name === 'metadata' || name === 'status' || name === 'apiVersion' || name === 'kind') continue
        if (previous[name] === undefined) delete next[name]
        else next[name] = cloneJson(previous[name])
      }
      const { managedFields } = next.metadata
      next.metadata = cloneJson(previous.metadata)
      delete next.metadata.managedFields
      if (managedFields !== undefined) next.metadata.managedFields = managedFields
    },
    validate: (object, previous) => {
      const metadata = [
        ...validateMetadata(object, subdomainProblems),
        ...(previous === undefined ? [] : validateMetadataUpdate(object, previous)),
      ]
      return [...metadata, ...contentProblems({ schema, isRuled, object, previous })]
    },
  }
}

function contentProblems(input: {
  schema: JsonSchema
  isRuled: boolean
  object: KubeObject
  previous: KubeObject | undefined
}): FieldProblem[] {
  const { schema, isRuled, object, previous } = input
  const value = object as JsonObject
  const problems = [...validateSchema(schema, value), ...duplicateProblems(schema, value)]
  if (!isRuled) return problems
  if (problems.some(({ reason }) => BLOCKING.has(reason))) return [...problems, NOT_CHECKED]
  return [...problems, ...ruleProblems(schema, { value, old: previous as Json | undefined })]
}

function sameContent(a: KubeObject, b: KubeObject, hasStatus: boolean): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  for (const name of names) {
    if (name === 'metadata' || name === 'apiVersion' || (hasStatus && name === 'status')) continue
    if (!jsonEqual(a[name], b[name])) return false
  }
  return true
}
