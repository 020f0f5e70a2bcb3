import type { Json } from '#libs/kube-model'
import type { FieldProblem } from '../api-error.ts'
import { isObject } from '../schema/json-shape.ts'
import { canonicalJson } from '#libs/kernel'
import { CelError, evaluateCel } from './cel.ts'
import { CelSyntaxError, parseCel } from './cel-parser.ts'
import type { CelNode } from './cel-parser.ts'
import type { JsonSchema, ValidationRule } from './json-schema.ts'
import { propertySchema } from './json-schema.ts'
import { fieldPath, keyOf } from './validate-schema.ts'

const parsed = new Map<string, CelNode | CelSyntaxError>()

function parse(rule: string): CelNode {
  let known = parsed.get(rule)
  if (known === undefined) {
    try {
      known = parseCel(rule)
    } catch (error) {
      if (!(error instanceof CelSyntaxError)) throw error
      known = error
    }
    parsed.set(rule, known)
  }
  if (known instanceof CelSyntaxError) throw known
  return known
}

/** Whether a rule compares with the former value: it then holds only for changes. */
const isTransition = (rule: ValidationRule): boolean => /\boldSelf\b/.test(rule.rule)

/**
 * What breaks the rules (`x-kubernetes-validations`) of a schema. Rules that use more of the language than is known here
 * are taken as kept: this server is not the last to check.
 */
export function ruleProblems(
  schema: JsonSchema,
  values: { value: Json | undefined; old: Json | undefined },
  path = '',
): FieldProblem[] {
  const { value, old } = values
  if (value === undefined) return []
  const problems = (schema['x-kubernetes-validations'] ?? []).flatMap((rule) => brokenRule(rule, { value, old, path }))
  if (Array.isArray(value)) {
    const { items } = schema
    if (items === undefined) return problems
    for (const [index, item] of value.entries()) {
      const before = formerItem(schema, item, old)
      problems.push(...ruleProblems(items, { value: item, old: before }, `${path}[${index}]`))
    }
  } else if (isObject(value)) {
    for (const [name, child] of Object.entries(value)) {
      const childSchema = propertySchema(schema, name)
      const before = isObject(old) ? old[name] : undefined
      if (childSchema !== undefined) {
        problems.push(...ruleProblems(childSchema, { value: child, old: before }, fieldPath(path, name)))
      }
    }
  }
  return problems
}

/** Elements have a past only where a key says which they are. */
function formerItem(schema: JsonSchema, item: Json, old: Json | undefined): Json | undefined {
  if (!Array.isArray(old) || schema['x-kubernetes-list-type'] !== 'map') return undefined
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const wanted = canonicalJson(keyOf(item, keys))
  return old.find((candidate) => canonicalJson(keyOf(candidate, keys)) === wanted)
}

function brokenRule(rule: ValidationRule, place: { value: Json; old: Json | undefined; path: string }): FieldProblem[] {
  const { value, old, path } = place
  if (isTransition(rule) && old === undefined && rule.optionalOldSelf !== true) return []
  const variables = { self: value, oldSelf: old }
  try {
    if (evaluateCel(parse(rule.rule), variables) !== false) return []
  } catch (error) {
    if (error instanceof CelSyntaxError) return []
    if (!(error instanceof CelError) || !error.message.startsWith('no such key')) return []
    return [problem(rule, place, `rule evaluation error: ${error.message}`)]
  }
  return [problem(rule, { value, path: path + (rule.fieldPath ?? '') }, messageOf(rule, variables))]
}

function messageOf(rule: ValidationRule, variables: { self: Json; oldSelf: Json | undefined }): string {
  if (rule.messageExpression !== undefined) {
    try {
      const text = evaluateCel(parse(rule.messageExpression), variables)
      if (typeof text === 'string' && text.trim() !== '') return text
    } catch {
      // The plain message says it as well.
    }
  }
  return rule.message ?? `failed rule: ${rule.rule.trim()}`
}

function problem(rule: ValidationRule, place: { value: Json; path: string }, message: string): FieldProblem {
  const { reason = 'FieldValueInvalid' } = rule
  const field = place.path.replace(/^\./, '')
  if (reason === 'FieldValueForbidden') return { reason, field, message: `Forbidden: ${message}` }
  if (reason === 'FieldValueRequired') return { reason, field, message: `Required value: ${message}` }
  const { value } = place
  const shown = isObject(value) ? '"object"' : Array.isArray(value) ? '"array"' : JSON.stringify(value)
  if (reason === 'FieldValueDuplicate') return { reason, field, message: `Duplicate value: ${shown}` }
  return { reason, field, message: `Invalid value: ${shown}: ${message}` }
}
