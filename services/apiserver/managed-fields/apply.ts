import { canonicalJson, cloneJson } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'

import { asString, isObject } from '../schema/json-shape.ts'
import { pruneUnknown } from '../schema/prune.ts'
import { applyDefaults } from '../schema/defaults.ts'
import { typeOf } from '../schema/schema.ts'
import type { FieldSchema, Gvk } from '../schema/schema.ts'
import { appliedSet, checkApplied } from './applied-set.ts'
import { applyConflict } from './apply-conflict.ts'
import { compareObjects } from './compare.ts'
import { isEmptySet, parseFields, subtractFields, unionFields } from './field-set.ts'
import type { FieldSet } from './field-set.ts'
import { mergeApplied, removeUnclaimed } from './merge-applied.ts'
import { sortEntries } from './track.ts'

export type ApplyOptions = {
  gvk: Gvk
  manager: string
  /** Take over fields that other managers own. */
  force: boolean
  subresource?: string | undefined
  /** RFC 3339 in whole seconds. */
  time: string
}

/**
 * Server-side apply: lays `applied` over the current object, takes away what the manager applied before and does not
 * any more, and records what it owns in `metadata.managedFields`. The arguments are not changed.
 * @param current the stored object; `undefined` when there is none yet
 * @throws ApiError 409 when other managers own what changes, 500 when the configuration is not of the kind's shape
 */
export function applyServerSide(
  current: KubeObject | undefined,
  applied: KubeObject,
  options: ApplyOptions,
): KubeObject {
  const { gvk, manager, subresource } = options
  const type = typeOf(gvk)
  const configuration = withoutUnowned(applied)
  const { namespace = '', name = '' } = applied.metadata
  const groupVersion = gvk.group === '' ? `/${gvk.version}` : `${gvk.group}/${gvk.version}`
  checkApplied(configuration, type, `${namespace}/${name}; ${groupVersion}, Kind=${gvk.kind}`)
  const claimed = appliedSet(configuration, type, subresource)
  const entries = current?.metadata.managedFields ?? []
  const own = entries.find((entry) => isAppliedBy(entry, options))
  const others = entries.filter((entry) => entry !== own)
  const live: JsonObject = (current as JsonObject | undefined) ?? {}
  const merged = mergeApplied(live, configuration, type) as JsonObject
  const overlaid = compareObjects(live, merged, type)
  if (!options.force) refuseConflicts({ others, changed: overlaid.changed, claimed, current, manager, type })
  const former = parseFields(isObject(own?.['fieldsV1']) ? own['fieldsV1'] : {})
  former.isMember = false
  const othersSets = others.map((entry) => parseFields(isObject(entry['fieldsV1']) ? entry['fieldsV1'] : {}))
  const result = removeUnclaimed(merged, { former, claimed, others: othersSets }, type) as KubeObject
  result.metadata = { ...result.metadata }
  delete result.metadata.managedFields
  renewLastApplied(result, applied, manager)
  const next = completed(gvk, result)
  const { changed, removed } = compareObjects(live, next as JsonObject, type)
  const isChanged = current === undefined || !isEmptySet(changed) || !isEmptySet(removed)
  const kept = others.flatMap((entry): JsonObject[] => {
    const fields = isObject(entry['fieldsV1']) ? entry['fieldsV1'] : {}
    const rest = subtractFields(fields, removed, { deep: true })
    const final = rest === undefined ? undefined : subtractFields(rest, overlaid.changed)
    return final === undefined ? [] : [{ ...entry, fieldsV1: final }]
  })
  const fields = unionFields(undefined, claimed)
  if (fields !== undefined && Object.keys(fields).length > 0) {
    kept.push(entryFor(options, { fields, time: isChanged ? options.time : asString(own?.['time']) }))
  }
  if (kept.length > 0) next.metadata.managedFields = sortEntries(kept)
  return next
}

/** A configuration without what nobody can own: resourceVersion and uid stay, as preconditions. */
function withoutUnowned(applied: KubeObject): JsonObject {
  const configuration = cloneJson(applied) as unknown as JsonObject
  const { metadata } = configuration
  if (isObject(metadata)) {
    for (const name of ['managedFields', 'selfLink', 'generation', 'creationTimestamp', 'deletionTimestamp']) {
      delete metadata[name]
    }
  }
  return configuration
}

/** The result as it will be stored, so that defaults count as no change. */
function completed(gvk: Gvk, object: KubeObject): KubeObject {
  const copy = cloneJson(object)
  pruneUnknown(gvk, copy)
  applyDefaults(gvk, copy)
  return copy
}

function isAppliedBy(entry: JsonObject, options: ApplyOptions): boolean {
  return (
    entry['manager'] === options.manager &&
    entry['operation'] === 'Apply' &&
    asString(entry['subresource']) === (options.subresource ?? '')
  )
}

function entryFor(options: ApplyOptions, content: { fields: JsonObject; time: string }): JsonObject {
  const { gvk, manager, subresource } = options
  return {
    manager,
    operation: 'Apply',
    apiVersion: gvk.group === '' ? gvk.version : `${gvk.group}/${gvk.version}`,
    ...(content.time === '' ? {} : { time: content.time }),
    fieldsType: 'FieldsV1',
    fieldsV1: content.fields,
    ...(subresource === undefined ? {} : { subresource }),
  }
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** Keeps the annotation of client-side apply true, so that people can go back to that. */
function renewLastApplied(result: KubeObject, applied: KubeObject, manager: string): void {
  const { annotations } = result.metadata
  if (manager !== 'kubectl' || annotations?.[LAST_APPLIED] === undefined) return
  const configuration = cloneJson(applied)
  delete configuration.metadata.annotations?.[LAST_APPLIED]
  result.metadata.annotations = { ...annotations, [LAST_APPLIED]: `${canonicalJson(configuration)}\n` }
}

function refuseConflicts(input: {
  others: readonly JsonObject[]
  changed: FieldSet
  claimed: FieldSet
  current: KubeObject | undefined
  manager: string
  type: FieldSchema | undefined
}): void {
  const { others, changed, claimed, current, manager, type } = input
  const error = applyConflict(others, { changed, claimed, exempt: exemptFields(current, manager, type) })
  if (error !== undefined) throw error
}

/** What kubectl applied on the client's side before is its own, whatever name it had then. */
function exemptFields(
  current: KubeObject | undefined,
  manager: string,
  type: FieldSchema | undefined,
): FieldSet | undefined {
  const annotation = current?.metadata.annotations?.[LAST_APPLIED]
  if (manager !== 'kubectl' || annotation === undefined) return undefined
  try {
    const last: unknown = JSON.parse(annotation)
    return isObject(last) ? appliedSet(last, type) : undefined
  } catch {
    return undefined
  }
}
