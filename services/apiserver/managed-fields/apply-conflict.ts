import type { JsonObject } from '#libs/kube-model'

import { ApiError } from '../api-error.ts'
import { asString, isObject } from '../schema/json-shape.ts'
import { fieldPath } from './field-path.ts'
import { parseFields } from './field-set.ts'
import type { FieldSet } from './field-set.ts'

type Conflict = { manager: string; path: string }

/**
 * The error of an apply that changes what other managers own; `undefined` when it changes nothing of theirs. Fields in
 * `exempt` may be taken from anybody.
 */
export function applyConflict(
  others: readonly JsonObject[],
  sets: { changed: FieldSet; claimed: FieldSet; exempt: FieldSet | undefined },
): ApiError | undefined {
  const conflicts = others.flatMap((entry) => {
    const owned = parseFields(isObject(entry['fieldsV1']) ? entry['fieldsV1'] : {})
    owned.isMember = false
    const manager = managerTitle(entry)
    return commonPaths([owned, sets.changed, sets.claimed], sets.exempt, []).map((path) => ({ manager, path }))
  })
  if (conflicts.length === 0) return undefined
  return new ApiError({
    code: 409,
    reason: 'Conflict',
    message: messageOf(conflicts),
    details: {
      causes: conflicts.map(({ manager, path }) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with ${manager}`,
        field: path,
      })),
    },
  })
}

/** Paths of the fields that are members of all sets. */
function commonPaths(sets: readonly FieldSet[], exempt: FieldSet | undefined, steps: readonly string[]): string[] {
  const [first, ...rest] = sets
  if (first === undefined) return []
  const own = sets.every(({ isMember }) => isMember) && exempt?.isMember !== true ? [fieldPath(steps)] : []
  const below = [...first.children].flatMap(([step, child]) => {
    const inner = rest.flatMap((set) => set.children.get(step) ?? [])
    if (inner.length < rest.length) return []
    return commonPaths([child, ...inner], exempt?.children.get(step), [...steps, step])
  })
  return [...own, ...below]
}

function managerTitle(entry: JsonObject): string {
  const name = JSON.stringify(asString(entry['manager']))
  const subresource = asString(entry['subresource'])
  const place = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`
  return entry['operation'] === 'Update' ? `${name}${place} using ${asString(entry['apiVersion'])}` : `${name}${place}`
}

function messageOf(conflicts: readonly Conflict[]): string {
  const [only] = conflicts
  if (only !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${only.manager}: ${only.path}`
  }
  const managers = [...new Set(conflicts.map(({ manager }) => manager))].sort()
  const parts = managers.map((manager) => {
    const paths = conflicts.filter((conflict) => conflict.manager === manager).map(({ path }) => `- ${path}`)
    return `conflicts with ${manager}:\n${paths.join('\n')}`
  })
  return `Apply failed with ${conflicts.length} conflicts: ${parts.join('\n')}`
}
