import { jsonEqual } from '#libs/kernel'
import type { Json } from '#libs/kube-model'

import { ApiError } from '../api-error.ts'
import { isObject } from '../schema/json-shape.ts'
import { PATCH, SET_ELEMENT_ORDER } from './directives.ts'
import { goValue } from './patch-error.ts'

type MergeKey = string | undefined

function sameElement(a: Json | undefined, b: Json | undefined, mergeKey: MergeKey): boolean {
  if (mergeKey === undefined) return jsonEqual(a, b)
  return isObject(a) && isObject(b) && jsonEqual(a[mergeKey], b[mergeKey])
}

function indexIn(list: readonly Json[], item: Json | undefined, mergeKey: MergeKey): number {
  return list.findIndex((known) => sameElement(known, item, mergeKey))
}

/** Throws unless the elements of the patch stand in `$setElementOrder`, in the same order. */
export function checkElementOrder(patch: readonly Json[], order: readonly Json[], mergeKey: MergeKey): void {
  if (patch.length === 0 || order.length === 0) return
  const kept = patch.filter((item) => !isObject(item) || item[PATCH] === undefined)
  let next = 0
  for (const item of order) if (sameElement(kept[next], item, mergeKey)) next += 1
  if (next >= kept.length) return
  throw ApiError.internal(
    `The order in patch list:\n${goValue([...patch])}\n doesn't match ${SET_ELEMENT_ORDER.slice(0, -1)} list:\n${goValue([...order])}\n`,
  )
}

/**
 * Sorts a merged list: elements named in `order` keep that order, the others that of the server, and where both orders
 * allow it a new element goes first.
 */
export function orderElements(input: {
  merged: readonly Json[]
  order: readonly Json[]
  serverOrder: readonly Json[]
  mergeKey: MergeKey
}): Json[] {
  const { merged, order, serverOrder, mergeKey } = input
  const named = sortBy(
    merged.filter((item) => indexIn(order, item, mergeKey) !== -1),
    order,
    mergeKey,
  )
  const others = sortBy(
    merged.filter((item) => indexIn(order, item, mergeKey) === -1),
    serverOrder,
    mergeKey,
  )
  const result: Json[] = []
  let next = 0
  for (const item of others) {
    const place = indexIn(serverOrder, item, mergeKey)
    while (next < named.length) {
      const rival = indexIn(serverOrder, named[next], mergeKey)
      if (place !== -1 && rival !== -1 && place < rival) break
      result.push(named[next] ?? null)
      next += 1
    }
    result.push(item)
  }
  return [...result, ...named.slice(next)]
}

function sortBy(items: readonly Json[], order: readonly Json[], mergeKey: MergeKey): Json[] {
  const place = (item: Json): number => {
    const index = indexIn(order, item, mergeKey)
    return index === -1 ? order.length : index
  }
  return [...items].sort((a, b) => place(a) - place(b))
}
