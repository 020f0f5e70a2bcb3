import { cloneJson } from '#libs/kernel'
import type { Json, JsonObject } from '#libs/kube-model'
import { asObject, objectsIn } from '../json.ts'

/** Lists that a strategic merge patch merges by a key, as far as our patches touch them. */
const MERGE_KEYS: Record<string, string> = {
  containers: 'name',
  initContainers: 'name',
  schedulingGates: 'name',
  conditions: 'type',
}

/** Applies a merge patch, or a strategic one where `mergeKeys` is set. Returns the new object. */
export function applyPatch(target: JsonObject, patch: JsonObject, strategic: boolean): JsonObject {
  const { $patch: directive, ...fields } = patch
  const result: JsonObject = strategic && directive === 'replace' ? {} : cloneJson(target)
  for (const [key, value] of Object.entries(fields)) {
    if (value === null) delete result[key]
    else result[key] = applyField(result[key], value, { key, strategic })
  }
  return result
}

function applyField(
  current: Json | undefined,
  value: Json,
  { key, strategic }: { key: string; strategic: boolean },
): Json {
  const object = asObject(value)
  if (object !== undefined) return applyPatch(asObject(current) ?? {}, object, strategic)
  const mergeKey = MERGE_KEYS[key]
  if (!strategic || mergeKey === undefined) return cloneJson(value)
  const list = objectsIn(current).map((item) => cloneJson(item))
  for (const item of objectsIn(value)) {
    const at = list.findIndex((present) => present[mergeKey] === item[mergeKey])
    if (item.$patch === 'delete') {
      if (at >= 0) list.splice(at, 1)
    } else if (at >= 0) list[at] = applyPatch(list[at] ?? {}, item, true)
    else list.push(cloneJson(item))
  }
  return list
}
