import { canonicalJson, jsonEqual } from '#libs/kernel'
import type { Json, JsonObject } from '#libs/kube-model'
import type { FieldProblem } from '../api-error.ts'
import { isObject } from '../schema/json-shape.ts'
import { duplicate, invalid, notSupported, required, tooLong } from '../strategy/field-problem.ts'
import { hasFormat } from './formats.ts'
import type { JsonSchema } from './json-schema.ts'
import { propertySchema } from './json-schema.ts'

/** What keeps a value from being what its schema says. Paths are `spec.list[0].name`. */
export function validateSchema(schema: JsonSchema, value: Json, path = ''): FieldProblem[] {
  if (value === null && schema.nullable === true) return []
  const ofType = typeProblem(schema, value, path)
  if (ofType !== undefined) return [ofType]
  const problems = [...ownProblems(schema, value, path), ...combinedProblems(schema, value, path)]
  if (Array.isArray(value)) {
    const { items } = schema
    if (items !== undefined) {
      for (const [index, item] of value.entries()) problems.push(...validateSchema(items, item, `${path}[${index}]`))
    }
  } else if (isObject(value)) {
    for (const [name, child] of Object.entries(value)) {
      const childSchema = propertySchema(schema, name)
      if (childSchema !== undefined && !isMeta(path, name)) {
        problems.push(...validateSchema(childSchema, child, fieldPath(path, name)))
      }
    }
  }
  return problems
}

const isMeta = (path: string, name: string): boolean =>
  path === '' && (name === 'metadata' || name === 'apiVersion' || name === 'kind')

export const fieldPath = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

function typeName(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function typeProblem(schema: JsonSchema, value: Json, path: string): FieldProblem | undefined {
  const found = typeName(value)
  if (schema['x-kubernetes-int-or-string'] === true) {
    return found === 'integer' || found === 'string' ? undefined : wrongType(path, found, 'integer,string')
  }
  const { type } = schema
  if (type === undefined || found === type || (type === 'number' && found === 'integer')) return undefined
  return wrongType(path, found, type)
}

const wrongType = (path: string, found: string, wanted: string): FieldProblem => ({
  ...invalid(path, found, `${path} in body must be of type ${wanted}: ${JSON.stringify(found)}`),
  reason: 'FieldValueTypeInvalid',
})

const tooMany = (path: string, count: number, limit: number): FieldProblem => ({
  reason: 'FieldValueTooMany',
  field: path,
  message: `Too many: ${count}: must have at most ${limit} items`,
})

function ownProblems(schema: JsonSchema, value: Json, path: string): FieldProblem[] {
  const problems: FieldProblem[] = []
  if (typeof value === 'number') problems.push(...numberProblems(schema, value, path))
  else if (typeof value === 'string') problems.push(...stringProblems(schema, value, path))
  else if (Array.isArray(value)) problems.push(...listProblems(schema, value, path))
  else if (isObject(value)) problems.push(...objectProblems(schema, value, path))
  const allowed = schema.enum
  if (allowed !== undefined && !allowed.some((item) => jsonEqual(item, value))) {
    problems.push(notSupported(path, value, allowed as string[]))
  }
  return problems
}

function numberProblems(schema: JsonSchema, value: number, path: string): FieldProblem[] {
  const { minimum, maximum, exclusiveMinimum = false, exclusiveMaximum = false, multipleOf } = schema
  const should = (text: string): FieldProblem => invalid(path, value, `${path} in body should be ${text}`)
  const problems: FieldProblem[] = []
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    problems.push(should(exclusiveMaximum ? `less than ${maximum}` : `less than or equal to ${maximum}`))
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    problems.push(should(exclusiveMinimum ? `greater than ${minimum}` : `greater than or equal to ${minimum}`))
  }
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) {
    problems.push(should(`a multiple of ${multipleOf}`))
  }
  return problems
}

function stringProblems(schema: JsonSchema, value: string, path: string): FieldProblem[] {
  const { minLength, maxLength, pattern, format } = schema
  const problems: FieldProblem[] = []
  const { length } = Array.from(value)
  if (maxLength !== undefined && length > maxLength) problems.push(tooLong(path, maxLength))
  if (minLength !== undefined && length < minLength) {
    problems.push(invalid(path, value, `${path} in body should be at least ${minLength} chars long`))
  }
  if (pattern !== undefined && !patternOf(pattern).test(value)) {
    problems.push(invalid(path, value, `${path} in body should match '${pattern}'`))
  }
  if (format !== undefined && !hasFormat(value, format)) {
    problems.push(invalid(path, value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`))
  }
  return problems
}

const patterns = new Map<string, RegExp>()

/** A pattern in Go's notation; one that cannot be read matches everything. */
function patternOf(pattern: string): RegExp {
  let known = patterns.get(pattern)
  if (known === undefined) {
    try {
      const isCaseless = pattern.startsWith('(?i)')
      known = new RegExp(isCaseless ? pattern.slice(4) : pattern.replaceAll('(?P<', '(?<'), isCaseless ? 'i' : '')
    } catch {
      known = /(?:)/
    }
    patterns.set(pattern, known)
  }
  return known
}

function listProblems(schema: JsonSchema, value: readonly Json[], path: string): FieldProblem[] {
  const { minItems, maxItems } = schema
  const problems: FieldProblem[] = []
  if (maxItems !== undefined && value.length > maxItems) problems.push(tooMany(path, value.length, maxItems))
  if (minItems !== undefined && value.length < minItems) {
    problems.push(invalid(path, value.length, `${path} in body should have at least ${minItems} items`))
  }
  return problems
}

function objectProblems(schema: JsonSchema, value: JsonObject, path: string): FieldProblem[] {
  const { minProperties, maxProperties } = schema
  const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(value, name))
  const problems = missing.map((name) => required(fieldPath(path, name)))
  const { length } = Object.keys(value)
  if (maxProperties !== undefined && length > maxProperties) problems.push(tooMany(path, length, maxProperties))
  if (minProperties !== undefined && length < minProperties) {
    problems.push(invalid(path, length, `${path} in body should have at least ${minProperties} properties`))
  }
  return problems
}

function combinedProblems(schema: JsonSchema, value: Json, path: string): FieldProblem[] {
  const { allOf = [], anyOf = [], oneOf = [], not } = schema
  const fits = (part: JsonSchema): boolean => validateSchema(part, value, path).length === 0
  const must = (text: string): FieldProblem => invalid(path, '', `${JSON.stringify(path)} must ${text}`)
  const problems = allOf.flatMap((part) => validateSchema(part, value, path))
  if (problems.length > 0) problems.push(must('validate all the schemas (allOf)'))
  if (anyOf.length > 0 && !anyOf.some(fits)) problems.push(must('validate at least one schema (anyOf)'))
  const matching = oneOf.filter(fits).length
  if (oneOf.length > 0 && matching !== 1) {
    const found = matching === 0 ? 'none valid' : `${matching} valid alternatives`
    problems.push(must(`validate one and only one schema (oneOf). Found ${found}`))
  }
  if (not !== undefined && fits(not)) problems.push(must('not validate the schema (not)'))
  return problems
}

/** Elements of sets and keyed lists that are there twice. */
export function duplicateProblems(schema: JsonSchema, value: Json | undefined, path = ''): FieldProblem[] {
  if (Array.isArray(value)) {
    const { items } = schema
    const inner = items === undefined ? [] : value.flatMap((item, i) => duplicateProblems(items, item, `${path}[${i}]`))
    return [...listDuplicates(schema, value, path), ...inner]
  }
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, child]) => {
    const childSchema = propertySchema(schema, name)
    return childSchema === undefined ? [] : duplicateProblems(childSchema, child, fieldPath(path, name))
  })
}

function listDuplicates(schema: JsonSchema, list: readonly Json[], path: string): FieldProblem[] {
  const listType = schema['x-kubernetes-list-type']
  if (listType !== 'set' && listType !== 'map') return []
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const seen = new Set<string>()
  return list.flatMap((item, index) => {
    const identity = listType === 'set' ? item : keyOf(item, keys)
    const text = canonicalJson(identity)
    if (seen.has(text)) return [duplicate(`${path}[${index}]`, identity)]
    seen.add(text)
    return []
  })
}

/** The fields of an element that make it the one it is. */
export function keyOf(item: Json, keys: readonly string[]): JsonObject {
  const object = isObject(item) ? item : {}
  return Object.fromEntries(keys.flatMap((key) => (object[key] === undefined ? [] : [[key, object[key]]])))
}
