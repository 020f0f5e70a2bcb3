import { cloneJson } from '#libs/kernel'
import type { Json, JsonObject, KubeObject } from '#libs/kube-model'
import { asObject, objectsIn } from '../json.ts'
import { mergePatchOf } from '../merge-patch.ts'
import type { ConfiguredPatch, PatchContext, Patched } from './configured-patch.ts'
import type { Correction } from './lens.ts'
import { EVERY, type Location, type Segment, setAt, valueAt } from './path.ts'

/** The two states that a write to the host stands between: what the kind was shown, and what there is. */
export type Sides = { shown: KubeObject; host: KubeObject }

/** A body whose values are patched, or why one could not be. */
export type Rewritten = { ok: true; body: JsonObject } | { ok: false; problem: string }

/** Brings the values of a write to the host forth: those at the path of a patch, as far as the write holds them. */
export function rewriteBody(
  patch: ConfiguredPatch,
  body: JsonObject,
  options: { sides: Sides; isStrategic: boolean; context: PatchContext },
): Rewritten {
  const problems: string[] = []
  const apply = (value: Json): Json => {
    const patched: Patched = patch.forward(value, options.context)
    if (patched.ok) return patched.value
    problems.push(patched.problem)
    return value
  }
  const rewritten = rewrite(
    body,
    { path: patch.segments, shown: options.sides.shown as Json, actual: options.sides.host as Json, isWhole: false },
    { apply, isStrategic: options.isStrategic },
  )
  const [problem] = problems
  return problem === undefined ? { ok: true, body: rewritten as JsonObject } : { ok: false, problem }
}

type At = { path: readonly Segment[]; shown: Json | undefined; actual: Json | undefined; isWhole: boolean }
type How = { apply: (value: Json) => Json; isStrategic: boolean }

function rewrite(node: Json, at: At, how: How): Json {
  const [segment, ...path] = at.path
  // A key that is taken out stays out.
  if (node === null) return node
  if (segment === undefined) return rewriteValue(node, at, how)
  if (typeof segment === 'string') {
    const fields = asObject(node)
    if (fields === undefined || !Object.hasOwn(fields, segment)) return node
    const inner = { ...at, path, shown: valueAt(at.shown, [segment]), actual: valueAt(at.actual, [segment]) }
    return { ...fields, [segment]: rewrite(fields[segment] ?? null, inner, how) }
  }
  if (!Array.isArray(node)) return node
  return node.map((item, index) => {
    const merged = how.isStrategic && !at.isWhole ? mergedInto(item, at) : undefined
    const place = merged?.index ?? index
    if ((segment !== EVERY && segment !== place) || asObject(item)?.$patch === 'delete') return item
    if (merged === undefined) return rewrite(item, { path, shown: undefined, actual: undefined, isWhole: true }, how)
    return rewrite(item, { path, shown: merged.shown, actual: merged.actual, isWhole: false }, how)
  })
}

/** What an expression sees is the whole value, also where the write holds a part of it. */
function rewriteValue(node: Json, at: At, { apply }: How): Json {
  const part = asObject(node)
  const shown = asObject(at.shown)
  if (part === undefined || shown === undefined || at.isWhole) return apply(node)
  const whole = cloneJson(shown)
  for (const [key, value] of Object.entries(part)) setAt(whole, [key], value ?? undefined)
  const wanted = apply(whole)
  const actual = asObject(at.actual)
  const fields = asObject(wanted)
  return actual === undefined || fields === undefined ? wanted : (mergePatchOf(actual, fields) ?? {})
}

/** The item that one of a strategic patch changes; undefined where the list is replaced as a whole. */
function mergedInto(
  item: Json,
  at: At,
): { index: number; shown: JsonObject; actual: JsonObject | undefined } | undefined {
  const name = asObject(item)?.name
  const items = Array.isArray(at.shown) ? at.shown : []
  const index = items.findIndex((candidate) => typeof name === 'string' && asObject(candidate)?.name === name)
  const shown = asObject(items[index])
  const actual = objectsIn(at.actual).find((candidate) => candidate.name === name)
  return shown === undefined ? undefined : { index, shown, actual }
}

/** The body with what corrections need besides, as far as it does not hold it already. They are keys of maps of text. */
export function withCorrections(body: JsonObject, corrections: readonly Correction[]): JsonObject {
  const corrected = cloneJson(body)
  for (const { at, value } of corrections) {
    for (let depth = 1; depth < at.length; depth++) {
      const parent: Location = at.slice(0, depth)
      if (asObject(valueAt(corrected, parent)) === undefined) setAt(corrected, parent, {})
    }
    if (valueAt(corrected, at) === undefined) setAt(corrected, at, value)
  }
  return corrected
}
