import { jsonEqual } from '#libs/kernel'
import type { Json, JsonObject, KubeObject } from '#libs/kube-model'
import { covers } from './covers.ts'
import { asObject, presentFields } from './json.ts'
import { mergePatchOf } from './merge-patch.ts'
import { plainTag } from './three-way.ts'

/** How a base keeps fields that one side owns: a tag of each. */
export function fieldTags(owned: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(owned).map(([field, value]) => [field, plainTag(JSON.stringify(value))]))
}

/**
 * The merge patch that gives one side the fields that the other owns; `undefined` when it has them. What the API filled
 * in besides stays, and a field that is owned no more goes. Where nothing is known of the past, all is compared to the
 * last bit: an addition cannot be told from a default then, and taking a default away does no harm, once.
 * @param crossed the tags of what was written last, as {@link fieldTags} makes them
 * @param owns whether a field is the other side's at all, for fields that it does not have. @default all are
 */
export function ownedFieldsPatch(
  current: JsonObject,
  wanted: JsonObject,
  options: { crossed: JsonObject | undefined; owns?: (field: string) => boolean },
): JsonObject | undefined {
  const { crossed, owns = () => true } = options
  const tags = fieldTags(wanted)
  const patch: JsonObject = {}
  for (const [field, value] of Object.entries(wanted)) {
    const present = Object.hasOwn(current, field) ? current[field] : undefined
    const isAsLast = crossed !== undefined && crossed[field] === tags[field]
    if (isAsLast && covers(present, value)) continue
    const change = fieldPatch(present, value)
    if (change !== undefined) patch[field] = change
  }
  for (const field of Object.keys(current)) {
    if (Object.hasOwn(wanted, field) || !owns(field)) continue
    if (crossed === undefined || Object.hasOwn(crossed, field)) patch[field] = null
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}

function fieldPatch(current: Json | undefined, wanted: Json): Json | undefined {
  if (current === undefined) return covers(current, wanted) ? undefined : wanted
  const change = mergePatchOf({ field: current }, { field: wanted })
  return change?.field
}

/** An object without what every object has. */
export function contentOf(object: KubeObject): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, status: _status, ...content } = object
  return content as JsonObject
}

/** How a base keeps a whole content: as {@link fieldTags}, the fields of `spec` one by one. */
export function contentTags(content: JsonObject): JsonObject {
  const { spec, ...others } = content
  return { ...fieldTags(others), ...(spec === undefined ? {} : { spec: fieldTags(asObject(spec) ?? {}) }) }
}

/**
 * The same as {@link ownedFieldsPatch} for a whole object, without metadata and status; the fields of `spec` are looked
 * at one by one.
 * @param crossed as {@link contentTags} makes it
 * @param owns whether a field of the object or of its `spec` is the other side's at all. @default all are
 */
export function contentPatch(
  object: KubeObject,
  wanted: JsonObject,
  options: { crossed: JsonObject | undefined; owns?: (field: string) => boolean },
): JsonObject | undefined {
  const { crossed } = options
  const { spec, ...others } = wanted
  const { spec: currentSpec, ...currentOthers } = contentOf(object)
  const specTags = crossed === undefined ? undefined : (asObject(crossed.spec) ?? {})
  const patch = ownedFieldsPatch(currentOthers, others, options)
  const section = ownedFieldsPatch(asObject(currentSpec) ?? {}, asObject(spec) ?? {}, { ...options, crossed: specTags })
  return presentFields({ ...patch, spec: section })
}

/** The value at a path of field names, `spec.controller`. */
function valueAt(object: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, field) => asObject(value)?.[field], object)
}

/**
 * Whether a field that no API lets change is another one than wanted. What the API filled in besides is no difference,
 * as long as what is wanted is what was written.
 * @param path of a field of the object, or of its `spec`
 * @param crossed as {@link contentTags} makes it
 */
export function differsForGood(
  path: string,
  sides: { wanted: JsonObject; current: unknown; crossed: JsonObject | undefined },
): boolean {
  const wanted = valueAt(sides.wanted, path)
  const current = valueAt(sides.current, path)
  const written = valueAt(sides.crossed, path)
  if (wanted === undefined) return current !== undefined && written !== undefined
  if (jsonEqual(wanted, current)) return false
  const isAsLast = written === undefined || written === fieldTags({ field: wanted as Json }).field
  return !isAsLast || !covers(current as Json | undefined, wanted as Json)
}

/** The tags that a base holds of the fields under this name. */
export function crossedFields(base: JsonObject | undefined, field: string): JsonObject | undefined {
  return asObject(base?.[field])
}
