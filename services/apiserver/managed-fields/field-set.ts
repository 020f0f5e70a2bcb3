import type { JsonObject } from '#libs/kube-model'

import { isObject } from '../schema/json-shape.ts'

/**
 * A set of fields as a tree. Steps are named as in `fieldsV1`: `f:name`, `k:{"name":"c"}`, `v:"x"`. `isMember`: the
 * field itself is in the set, which for a container says that it was put there as a whole.
 */
export type FieldSet = { isMember: boolean; children: Map<string, FieldSet> }

export const emptySet = (): FieldSet => ({ isMember: false, children: new Map() })

/** The set below a step, made when it is missing. */
export function descend(set: FieldSet, step: string): FieldSet {
  const known = set.children.get(step)
  if (known !== undefined) return known
  const child = emptySet()
  set.children.set(step, child)
  return child
}

export function isEmptySet(set: FieldSet): boolean {
  if (set.isMember) return false
  for (const child of set.children.values()) if (!isEmptySet(child)) return false
  return true
}

const isMemberOf = (fields: JsonObject): boolean => '.' in fields || Object.keys(fields).length === 0

function build(isMember: boolean, children: JsonObject): JsonObject | undefined {
  const isLeaf = Object.keys(children).length === 0
  if (isLeaf) return isMember ? {} : undefined
  return isMember ? { '.': {}, ...children } : children
}

/** `fields` (the JSON of `fieldsV1`, or a part of it) and the set together. */
export function unionFields(fields: JsonObject | undefined, set: FieldSet): JsonObject | undefined {
  const isMember = set.isMember || (fields !== undefined && isMemberOf(fields))
  const children: JsonObject = { ...fields }
  delete children['.']
  for (const [step, child] of set.children) {
    const known = children[step]
    const merged = unionFields(isObject(known) ? known : undefined, child)
    if (merged !== undefined) children[step] = merged
  }
  return build(isMember, children)
}

/** `fields` without the set's; `undefined` when none are left. With `deep` also without everything below them. */
export function subtractFields(
  fields: JsonObject,
  set: FieldSet,
  options: { deep: boolean } = { deep: false },
): JsonObject | undefined {
  if (set.isMember && options.deep) return undefined
  const children: JsonObject = { ...fields }
  delete children['.']
  for (const [step, child] of set.children) {
    const known = children[step]
    if (!isObject(known)) continue
    const rest = subtractFields(known, child, options)
    if (rest === undefined) delete children[step]
    else children[step] = rest
  }
  return build(isMemberOf(fields) && !set.isMember, children)
}

/** The set that `fieldsV1` stands for. */
export function parseFields(fields: JsonObject): FieldSet {
  const set = emptySet()
  const steps = Object.entries(fields).filter(([step]) => step !== '.')
  set.isMember = '.' in fields || steps.length === 0
  for (const [step, child] of steps) set.children.set(step, parseFields(isObject(child) ? child : {}))
  return set
}
