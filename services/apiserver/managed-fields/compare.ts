import { jsonEqual } from '#libs/kernel'
import type { Json, JsonObject } from '#libs/kube-model'

import { isObject } from '../schema/json-shape.ts'
import type { FieldSchema } from '../schema/schema.ts'
import { childField, kindOf, partsOf } from './field-kind.ts'
import { descend, emptySet } from './field-set.ts'
import type { FieldSet } from './field-set.ts'

/** What a write did to the fields of an object. */
export type Comparison = {
  /** Fields that are new or have another value. */
  changed: FieldSet
  /** Fields that are gone, each with everything below it. */
  removed: FieldSet
}

/** Fields of metadata that nobody owns. */
const UNOWNED_METADATA = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'managedFields',
])

/** Compares two versions of an object. `type` describes the object; without it the values' own shape decides. */
export function compareObjects(previous: JsonObject, next: JsonObject, type: FieldSchema | undefined): Comparison {
  const comparison: Comparison = { changed: emptySet(), removed: emptySet() }
  for (const name of new Set([...Object.keys(previous), ...Object.keys(next)])) {
    if (name === 'apiVersion' || name === 'kind') continue
    const before = name === 'metadata' ? ownedMetadata(previous[name]) : previous[name]
    const after = name === 'metadata' ? ownedMetadata(next[name]) : next[name]
    compareStep({ before, after, field: childField(type, name), step: `f:${name}` }, comparison)
  }
  return comparison
}

/** Metadata with only the fields that can be owned. */
export function ownedMetadata(metadata: Json | undefined): JsonObject {
  if (!isObject(metadata)) return {}
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !UNOWNED_METADATA.has(name)))
}

type Step = { before: Json | undefined; after: Json | undefined; field: FieldSchema | undefined; step: string }

function compareStep({ before, after, field, step }: Step, comparison: Comparison): void {
  if (before === undefined) {
    if (after !== undefined) addAll(field, after, descend(comparison.changed, step))
    return
  }
  if (after === undefined) {
    descend(comparison.removed, step).isMember = true
    return
  }
  if (jsonEqual(before, after)) return
  const kind = kindOf(field, after)
  if (kind === 'leaf' || (before !== null && kindOf(field, before) !== kind)) {
    descend(comparison.changed, step).isMember = true
    return
  }
  const inner: Comparison = { changed: emptySet(), removed: emptySet() }
  const old = partsOf(field, before)
  const parts = partsOf(field, after)
  for (const [name, part] of parts) {
    compareStep({ before: old.get(name)?.value, after: part.value, field: part.field, step: name }, inner)
  }
  for (const name of old.keys()) if (!parts.has(name)) descend(inner.removed, name).isMember = true
  if (inner.changed.children.size > 0) comparison.changed.children.set(step, inner.changed)
  if (inner.removed.children.size > 0) comparison.removed.children.set(step, inner.removed)
}

/** Puts a value and all its parts into a set. */
function addAll(field: FieldSchema | undefined, value: Json, set: FieldSet): void {
  set.isMember = true
  if (kindOf(field, value) === 'leaf') return
  for (const [step, part] of partsOf(field, value)) addAll(part.field, part.value, descend(set, step))
}
