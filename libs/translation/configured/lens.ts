import { cloneJson, jsonEqual } from '#libs/kernel'
import type { Json, JsonObject, KubeObject } from '#libs/kube-model'
import { covers } from '../covers.ts'
import { asObject } from '../json.ts'
import { type Tag, plainTag, secretTag } from '../three-way.ts'
import { type ConfiguredPatch, type PatchContext, type Patched, withdrawnPatch } from './configured-patch.ts'
import { type Location, isTextAt, locate, locationText, setAt, valueAt } from './path.ts'

/** A value that must be put on the host because the kind, which does not know of patches, would not. */
export type Correction = { at: Location; value: Json }

/** A host copy as it would be without patches, and what patches make of the difference. */
export type Seen = {
  /** What the kind is shown for the host copy. */
  host: KubeObject
  corrections: Correction[]
  /** Why some values do not cross. */
  problems: string[]
  /** Pairs of expressions that do not come to rest. */
  loops: string[]
  /** What both sides agree on, by place, once what the host has came back, and once the tenant's values are on it. */
  tagsBack: JsonObject
  tagsForth: JsonObject
}

/** Places that an earlier configuration had patches for. */
function withdrawn(
  patches: readonly ConfiguredPatch[],
  { plain, host, base }: { plain: KubeObject; host: KubeObject; base: JsonObject | undefined },
): ConfiguredPatch[] {
  if (base === undefined) return []
  const roots = [plain, host] as unknown as Json[]
  const current = new Set(
    patches.flatMap(({ segments }) => roots.flatMap((root) => locate(root, segments).map(locationText))),
  )
  return Object.keys(base).flatMap((text) => (current.has(text) ? [] : (withdrawnPatch(text) ?? [])))
}

type Place = {
  patch: ConfiguredPatch
  at: Location
  /** What the copy would have without the patch, and what it has. */
  plain: Json | undefined
  actual: Json | undefined
}

/**
 * Shows a host copy as if nothing had been patched. A value crosses back only where bringing it forth again gives what
 * the host has: so no write back is ever followed by one forth, and the two expressions cannot play a value to one
 * another. Where it does not, nothing is written until the tenant changes its value.
 * @param plain the copy as the kind makes it
 * @param base tags of what both sides agreed on at each place
 */
export function seeThrough(
  patches: readonly ConfiguredPatch[],
  pair: { plain: KubeObject; host: KubeObject; base: JsonObject | undefined },
  context: PatchContext,
): Seen {
  const seen: Seen = {
    host: cloneJson(pair.host),
    corrections: [],
    problems: [],
    loops: [],
    tagsBack: {},
    tagsForth: {},
  }
  const tag = tagOf(context)
  for (const patch of [...patches, ...withdrawn(patches, pair)]) {
    const places = new Map<string, Location>()
    for (const root of [pair.plain, pair.host]) {
      for (const at of locate(root as Json, patch.segments)) places.set(locationText(at), at)
    }
    for (const [text, at] of places) {
      const place: Place = {
        patch,
        at,
        plain: valueAt(pair.plain as Json, at),
        actual: valueAt(pair.host as Json, at),
      }
      look(seen, place, { context, crossed: asObject(pair.base)?.[text], isFixed: pair.host.immutable === true })
      const shown = valueAt(seen.host as Json, at)
      if (patch.id === '') continue
      if (place.plain !== undefined) seen.tagsForth[text] = patch.id + tag(place.plain)
      if (shown !== undefined) seen.tagsBack[text] = patch.id + tag(shown)
    }
  }
  return seen
}

function look(
  seen: Seen,
  place: Place,
  known: { context: PatchContext; crossed: Json | undefined; isFixed: boolean },
): void {
  const { patch, at, plain, actual } = place
  const show = (value: Json | undefined): void => setAt(seen.host as Json, at, value)
  if (plain === undefined) {
    showAddition(seen, place, { ...known, show })
    return
  }
  const wanted = patch.forward(plain, known.context)
  if (!wanted.ok) {
    seen.problems.push(wanted.problem)
    show(plain)
    return
  }
  if (isAs(actual, wanted.value)) {
    show(plain)
    if (patch.hasForward && patch.hasReverse && !comesToRest(patch, wanted.value, known.context)) {
      seen.loops.push(loopText(patch, at))
    }
    return
  }
  // The copy was made without this patch, or with another: what it has says nothing of the host's wishes.
  const crossed = typeof known.crossed === 'string' ? known.crossed : undefined
  const isNew = crossed === undefined ? jsonEqual(actual, plain) : !crossed.startsWith(patch.id)
  if (patch.hasReverse && actual !== undefined && !isNew) {
    const back = patch.reverse(actual, known.context)
    if (back.ok && comesBack(patch, { back, actual }, known.context)) {
      show(back.value ?? undefined)
      return
    }
    // The tenant has not changed its value since: what the host has is left, for nothing that we write would last.
    if (crossed === patch.id + tagOf(known.context)(plain)) {
      show(plain)
      if (back.ok) seen.loops.push(loopText(patch, at))
      else seen.problems.push(back.problem)
      return
    }
  }
  if (isTextAt(at) && !known.isFixed) {
    show(plain)
    seen.corrections.push({ at, value: wanted.value })
  } else if (jsonEqual(actual, plain)) show(undefined)
}

/** What the host has and the tenant has not. */
function showAddition(
  seen: Seen,
  { patch, at, actual }: Place,
  known: { context: PatchContext; crossed: Json | undefined; show: (value: Json | undefined) => void },
): void {
  if (actual === undefined) return
  if (patch.hasReverse) {
    const back = patch.reverse(actual, known.context)
    if (back.ok) known.show(back.value ?? undefined)
    else {
      seen.problems.push(back.problem)
      known.show(undefined)
    }
    return
  }
  // Labels and the like merge: without an inverse they cannot come back, and what the tenant has taken out must go.
  if (!isTextAt(at)) return
  known.show(undefined)
  if (known.crossed !== undefined) seen.corrections.push({ at, value: null })
}

function isAs(actual: Json | undefined, wanted: Json): boolean {
  return actual === undefined ? wanted === null : covers(actual, wanted)
}

function comesBack(
  patch: ConfiguredPatch,
  { back, actual }: { back: Extract<Patched, { ok: true }>; actual: Json },
  context: PatchContext,
): boolean {
  const again = patch.forward(back.value, context)
  return again.ok && jsonEqual(again.value, actual)
}

/** Whether a value on the host, brought back and forth, is the same. */
function comesToRest(patch: ConfiguredPatch, onHost: Json, context: PatchContext): boolean {
  if (onHost === null) return true
  const back = patch.reverse(onHost, context)
  return back.ok && comesBack(patch, { back, actual: onHost }, context)
}

function loopText({ path }: ConfiguredPatch, at: Location): string {
  return `patch of ${path}: reverseExpression and expression do not undo one another for ${locationText(at)}; nothing of it comes back`
}

/** Values as a base keeps them. It is not sealed in the log: of what is secret it holds too little to guess it by. */
function tagOf({ ref }: PatchContext): (value: Json) => string {
  const tag: Tag = ref.resource === 'secrets' ? secretTag : plainTag
  return (value) => tag(JSON.stringify(value))
}
