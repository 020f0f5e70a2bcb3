import { sha256Hex } from '#libs/kernel'
import type { JsonObject } from '#libs/kube-model'

/** Per key: the value to set, or `null` to remove the key. */
export type KeyChanges = Record<string, string | null>

/** Values as a base keeps them: short, and enough to tell whether a value has changed. */
export type Tag = (value: string) => string

/** What brings two maps to agree, and what they will have agreed on. */
export type Merge = {
  toHost: KeyChanges
  toVirtual: KeyChanges
  /** Keys that both sides changed, each to another value, or of whose past nothing is known; the tenant's stays. */
  conflicts: string[]
  /** The base once `toHost` is done, and that once `toVirtual` is done; neither claims the other's keys. */
  baseAfterHost: JsonObject
  baseAfterVirtual: JsonObject
}

/** Short values as they are, long ones by hash. */
export const plainTag: Tag = (value) => (value.length <= 40 ? `=${value}` : `#${sha256Hex(value).slice(0, 10)}`)

/**
 * 16 bits of a hash: enough to notice a change, too few to guess a secret by. Where two values share a tag the merge
 * takes the tenant's, so a collision costs at most a change made on the host.
 */
export const secretTag: Tag = (value) => `#${sha256Hex(value).slice(0, 4)}`

/**
 * Merges two maps key by key against what they last agreed on. A side that left a key as it was takes the other's
 * change; where both changed it, or nothing is known of the past, the tenant's value wins, and a key that only the
 * host has is kept.
 * @param base tags by key; `undefined` when nothing is known
 */
export function threeWay(
  base: JsonObject | undefined,
  sides: { virtual: Record<string, string>; host: Record<string, string> },
  tag: Tag = plainTag,
): Merge {
  const { virtual, host } = sides
  const merge: Merge = {
    toHost: emptyMap(),
    toVirtual: emptyMap(),
    conflicts: [],
    baseAfterHost: emptyMap(),
    baseAfterVirtual: emptyMap(),
  }
  for (const key of new Set([...Object.keys(virtual), ...Object.keys(host)])) {
    const ours = own(virtual, key)
    const theirs = own(host, key)
    if (ours === theirs) {
      if (ours !== undefined) merge.baseAfterHost[key] = merge.baseAfterVirtual[key] = tag(ours)
      continue
    }
    const known = base === undefined ? undefined : own(base, key)
    const virtualChanged = base === undefined ? ours !== undefined : tagOf(ours, tag) !== known
    const hostChanged = base === undefined ? theirs !== undefined : tagOf(theirs, tag) !== known
    const [winner, baseDone, baseOther] =
      virtualChanged || !hostChanged
        ? [ours, merge.baseAfterHost, merge.baseAfterVirtual]
        : [theirs, merge.baseAfterVirtual, merge.baseAfterHost]
    if (virtualChanged && hostChanged) merge.conflicts.push(key)
    if (winner !== undefined) baseDone[key] = tag(winner)
    if (known !== undefined) baseOther[key] = known
    const changes = baseDone === merge.baseAfterHost ? merge.toHost : merge.toVirtual
    changes[key] = winner ?? null
  }
  return merge
}

/** Paths of the keys of a map that both sides have changed since they last agreed: the tenant's value goes over the host's. */
export function overruledIn(field: string, merge: Merge, base: JsonObject | undefined): string[] {
  return base === undefined ? [] : merge.conflicts.map((key) => `${field}[${JSON.stringify(key)}]`)
}

/** The base of a map that both sides have alike. */
export function tagsOf(map: Record<string, string>, tag: Tag = plainTag): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, tag(value)]))
}

/** A map without prototype: `constructor` and `__proto__` are keys like any other, and tenants choose them. */
function emptyMap<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>
}

function own<T>(map: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined
}

function tagOf(value: string | undefined, tag: Tag): string | undefined {
  return value === undefined ? undefined : tag(value)
}
