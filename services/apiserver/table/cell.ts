import type { Json, JsonObject, KubeObject } from '#libs/kube-model'

import { asObject, asString, at, objectsIn, stringsIn } from '../schema/json-shape.ts'

/** The cells of one object, in the order of the resource's columns. */
export type Cells = (object: KubeObject, nowMs: number) => Json[]

/** What an empty cell shows in most columns. */
export const NONE = '<none>'

export const orNone = (text: string): string => (text === '' ? NONE : text)

/** `a=1,b=2`, sorted; `<none>` without labels. */
export function labelText(labels: unknown): string {
  const pairs = Object.entries(asObject(labels)).map(([key, value]) => `${key}=${asString(value)}`)
  return orNone(pairs.sort().join(','))
}

/** A LabelSelector object in the notation of requests. */
export function selectorText(selector: unknown): string {
  const parts = Object.entries(asObject(at(selector, 'matchLabels'))).map(([key, value]) => `${key}=${asString(value)}`)
  for (const expression of objectsIn(at(selector, 'matchExpressions'))) {
    const key = asString(expression['key'])
    const values = `(${stringsIn(expression['values']).join(',')})`
    const forms: Record<string, string> = {
      In: `${key} in ${values}`,
      NotIn: `${key} notin ${values}`,
      Exists: key,
      DoesNotExist: `!${key}`,
    }
    parts.push(forms[asString(expression['operator'])] ?? key)
  }
  return orNone(parts.join(','))
}

/** Names and images of a template's containers. */
export function containerCells(podSpec: unknown): [names: string, images: string] {
  const containers = objectsIn(at(podSpec, 'containers'))
  const list = (field: string): string => containers.map((container) => asString(container[field])).join(',')
  return [list('name'), list('image')]
}

/** The first few of a list, and how many more there are. */
export function abbreviated(items: readonly string[], limit: number): string {
  if (items.length <= limit) return items.join(',')
  return `${items.slice(0, limit).join(',')} + ${items.length - limit} more...`
}

/** Conditions of an object by type. */
export function conditionsOf(object: KubeObject): Map<string, JsonObject> {
  const conditions = objectsIn(at(object, 'status', 'conditions'))
  return new Map(conditions.map((condition) => [asString(condition['type']), condition]))
}
