import { jsonEqual } from '#libs/kernel'
import type { Json } from '#libs/kube-model'

/** One place at which two states of an object differ; `from` is absent where nothing was, `to` where nothing is. */
export type Difference = { path: string; from?: Json; to?: Json }

/** More of them are no longer read by anybody. */
const LIMIT = 200

/** What differs with every write and says nothing. */
const IGNORED = new Set(['metadata.resourceVersion', 'metadata.managedFields'])

/** Items of a list are told apart by the first of these that all of them have, as Kubernetes merges them. */
const NAMES = ['name', 'type', 'key', 'mountPath', 'ip', 'port'] as const

/**
 * The places at which two JSON values differ, as paths such as `spec.containers[name=web].image`. Whole values are
 * given where one side has none.
 */
export function differences(from: unknown, to: unknown): Difference[] {
  const found: Difference[] = []
  compare('', from as Json | undefined, to as Json | undefined, found)
  return found.slice(0, LIMIT)
}

function compare(path: string, from: Json | undefined, to: Json | undefined, found: Difference[]): void {
  if (found.length >= LIMIT || IGNORED.has(path) || from === to) return
  if (isObject(from) && isObject(to)) {
    for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
      compare(joined(path, name), from[name], to[name], found)
    }
  } else if (Array.isArray(from) && Array.isArray(to)) compareLists(path, from, to, found)
  else if (!jsonEqual(from, to)) {
    found.push({ path, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) })
  }
}

function compareLists(path: string, from: Json[], to: Json[], found: Difference[]): void {
  const name = NAMES.find((each) => isTold(from, each) && isTold(to, each))
  if (name === undefined) {
    for (let index = 0; index < Math.max(from.length, to.length); index++) {
      compare(`${path}[${index}]`, from[index], to[index], found)
    }
    return
  }
  const before = byName(from, name)
  const after = byName(to, name)
  for (const value of new Set([...before.keys(), ...after.keys()])) {
    compare(`${path}[${name}=${value.replaceAll('"', '')}]`, before.get(value), after.get(value), found)
  }
}

/** Whether each item has this name, and no two the same. */
function isTold(items: Json[], name: string): boolean {
  const values = items.map((item) => (isObject(item) ? item[name] : undefined))
  const plain = values.every((value) => typeof value === 'string' || typeof value === 'number')
  return plain && new Set(values).size === values.length
}

function byName(items: Json[], name: string): Map<string, Json> {
  return new Map(items.map((item) => [JSON.stringify(isObject(item) ? item[name] : null), item]))
}

function joined(path: string, name: string): string {
  const plain = /^[A-Za-z_$][\w$]*$/.test(name)
  if (!plain) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
