import type { Json, JsonObject, KubeObject } from '#libs/kube-model'

import { cloneJson } from '#libs/kernel'

import { isObject } from './json-shape.ts'
import { shortName, structOf, typeNameOf } from './schema.ts'
import type { FieldSchema, Gvk } from './schema.ts'
import { fillsZero, showsNullTime } from './zero-values.ts'

type FillPlan = {
  /** Fields that every object of the type has, with the value they have when nobody sets them. */
  values: [name: string, value: Json][]
  /** Fields to walk into. */
  nested: [name: string, field: FieldSchema][]
}

const plans = new Map<string, FillPlan>()

function planOf(typeName: string): FillPlan {
  const known = plans.get(typeName)
  if (known !== undefined) return known
  const plan: FillPlan = { values: [], nested: [] }
  const name = shortName(typeName)
  for (const [key, field] of Object.entries(structOf(typeName) ?? {})) {
    if (field.default !== undefined && fillsZero(name, key)) plan.values.push([key, field.default])
    else if (showsNullTime(name, key)) plan.values.push([key, null])
    if (leadsToStruct(field)) plan.nested.push([key, field])
  }
  plans.set(typeName, plan)
  return plan
}

function leadsToStruct(field: FieldSchema): boolean {
  return field.ref !== undefined
    ? structOf(field.ref) !== undefined
    : field.items !== undefined && leadsToStruct(field.items)
}

/**
 * Adds the parts that a stored object always shows, in place: structures that are no pointers upstream (`status: {}`,
 * `resources: {}`), zero values of mandatory fields and the defaults that the schema declares.
 */
export function fillStructs(gvk: Gvk, object: KubeObject | JsonObject): void {
  const typeName = typeNameOf(gvk)
  if (typeName !== undefined) fillStruct(typeName, object as JsonObject)
}

function fillStruct(typeName: string, object: JsonObject): void {
  const plan = planOf(typeName)
  for (const [key, value] of plan.values) if (object[key] === undefined) object[key] = cloneJson(value)
  for (const [key, field] of plan.nested) fillValue(field, object[key])
}

function fillValue(field: FieldSchema, value: Json | undefined): void {
  if (value === undefined || value === null) return
  if (field.ref !== undefined) {
    if (isObject(value)) fillStruct(field.ref, value)
    return
  }
  const { items } = field
  if (items === undefined) return
  if (Array.isArray(value)) for (const item of value) fillValue(items, item)
  else if (isObject(value)) for (const item of Object.values(value)) fillValue(items, item)
}
