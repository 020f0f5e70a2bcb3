import type { Json, JsonObject } from '#libs/kube-model'

import { ApiError } from '../api-error.ts'
import { goValue } from '../patch/patch-error.ts'
import { isObject } from '../schema/json-shape.ts'
import { structOf } from '../schema/schema.ts'
import type { FieldSchema } from '../schema/schema.ts'
import { ownedMetadata } from './compare.ts'
import { childField, elementStep, kindOf, partsOf } from './field-kind.ts'
import { descend, emptySet } from './field-set.ts'
import type { FieldSet } from './field-set.ts'
import { fieldPath } from './field-path.ts'

/** The fields that an applied configuration claims: its leaves and list elements, not the containers of both. */
export function appliedSet(applied: JsonObject, type: FieldSchema | undefined, subresource?: string): FieldSet {
  const set = emptySet()
  for (const [name, value] of Object.entries(applied)) {
    if (name === 'apiVersion' || name === 'kind') continue
    const isStatus = name === 'status'
    const isApart = isStatus && type !== undefined && type.hasPlainStatus !== true
    if (subresource === 'status' ? !isStatus : isApart) continue
    const owned = name === 'metadata' ? ownedMetadata(value) : value
    if (name === 'metadata' && Object.keys(owned as JsonObject).length === 0) continue
    claim(childField(type, name), owned, descend(set, `f:${name}`))
  }
  return set
}

function claim(field: FieldSchema | undefined, value: Json, set: FieldSet): void {
  const parts = kindOf(field, value) === 'leaf' ? undefined : partsOf(field, value)
  if (parts === undefined || parts.size === 0) {
    set.isMember = true
    return
  }
  const isList = Array.isArray(value)
  for (const [step, part] of parts) {
    const child = descend(set, step)
    claim(part.field, part.value, child)
    if (isList) child.isMember = true
  }
}

/**
 * Checks that an applied configuration is of its kind's shape: no unknown fields, no two elements with one key. Throws
 * 500, as upstream does.
 */
export function checkApplied(applied: JsonObject, type: FieldSchema | undefined, title: string): void {
  const problem = shapeProblem(type, applied, [])
  if (problem !== undefined) throw ApiError.internal(`failed to create typed patch object (${title}): ${problem}`)
}

function shapeProblem(field: FieldSchema | undefined, value: Json, path: readonly string[]): string | undefined {
  if (field === undefined || value === null) return undefined
  if (field.listType === 'map' || field.type === 'array') {
    if (!Array.isArray(value)) return `${fieldPath(path)}: expected list, got ${shown(value)}`
    return listProblem(field, value, path)
  }
  const isStruct = structOf(field.ref) !== undefined || field.fields !== undefined
  if (!isStruct && field.type !== 'map') return undefined
  if (!isObject(value)) return `${fieldPath(path)}: expected map, got ${shown(value)}`
  for (const [name, item] of Object.entries(value)) {
    const child = childField(field, name)
    const childPath = [...path, `f:${name}`]
    if (child === undefined && isStruct && field.preserveUnknownFields !== true)
      return `${fieldPath(childPath)}: field not declared in schema`
    const problem = shapeProblem(child, item, childPath)
    if (problem !== undefined) return problem
  }
  return undefined
}

function listProblem(field: FieldSchema, list: readonly Json[], path: readonly string[]): string | undefined {
  const seen = new Set<string>()
  for (const item of list) {
    const step = elementStep(field, item)
    const isKeyed = field.listType === 'map' || field.listType === 'set'
    if (isKeyed && seen.has(step)) {
      const key = fieldPath([step]).slice(1, -1)
      return `${fieldPath(path)}: duplicate entries for key [${key}]`
    }
    seen.add(step)
    const problem = shapeProblem(field.items, item, [...path, step])
    if (problem !== undefined) return problem
  }
  return undefined
}

function shown(value: Json): string {
  return `&{${goValue(value)}}`
}
