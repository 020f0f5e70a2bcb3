import type { Json, JsonObject } from '#libs/kube-model'
import { asObject } from '../json.ts'

/** A part of a path: the name of a field, an index, or every item of a list. */
export type Segment = string | number | typeof EVERY
export const EVERY = Symbol('every item')

/** Where something is in one object. */
export type Location = readonly (string | number)[]

const PART = /^(?:\.?([A-Za-z_$][\w$-]*)|\[(\*|\d{1,4})\]|\["((?:[^"\\]|\\.)*)"\]|\['((?:[^'\\]|\\.)*)'\])/

/** Reads a path such as `spec.rules[0].host`, `spec.dnsNames[*]` or `metadata.annotations["a.b/c"]`; `undefined` if it is none. */
export function parsePath(path: string): readonly Segment[] | undefined {
  const segments: Segment[] = []
  for (let rest = path; rest !== '';) {
    const part = PART.exec(rest)
    if (part === null) return undefined
    const [text, name, index, doubly, singly] = part
    if (name !== undefined) {
      if (text.startsWith('.') === (segments.length === 0)) return undefined
      segments.push(name)
    } else if (index !== undefined) segments.push(index === '*' ? EVERY : Number(index))
    else segments.push((doubly ?? singly ?? '').replace(/\\(.)/g, '$1'))
    rest = rest.slice(text.length)
  }
  return segments
}

/** Every place in the object that a path stands for and where something is. */
export function locate(root: Json | undefined, path: readonly Segment[]): Location[] {
  let found: { at: Location; value: Json | undefined }[] = [{ at: [], value: root }]
  for (const segment of path) {
    found = found.flatMap(({ at, value }) => {
      if (typeof segment === 'string') {
        const object = asObject(value)
        return object !== undefined && Object.hasOwn(object, segment)
          ? [{ at: [...at, segment], value: object[segment] }]
          : []
      }
      if (!Array.isArray(value)) return []
      if (segment === EVERY) return value.map((item, index) => ({ at: [...at, index], value: item }))
      return segment < value.length ? [{ at: [...at, segment], value: value[segment] }] : []
    })
  }
  return found.filter(({ value }) => value !== undefined).map(({ at }) => at)
}

export function valueAt(root: Json | undefined, at: Location): Json | undefined {
  let value = root
  for (const part of at) {
    if (typeof part === 'number') value = Array.isArray(value) ? value[part] : undefined
    else {
      const object: JsonObject | undefined = asObject(value)
      value = object !== undefined && Object.hasOwn(object, part) ? object[part] : undefined
    }
  }
  return value
}

/**
 * Sets or, with `undefined`, takes out what is at a place that is there, or whose parent is. An item of a list becomes
 * null, so that the others stay where they are. Changes `root`.
 */
export function setAt(root: Json, at: Location, value: Json | undefined): void {
  const parent = valueAt(root, at.slice(0, -1))
  const last = at.at(-1)
  if (Array.isArray(parent) && typeof last === 'number') parent[last] = value ?? null
  const object = asObject(parent)
  if (object === undefined || typeof last !== 'string') return
  if (value === undefined) delete object[last]
  else Object.defineProperty(object, last, { value, enumerable: true, configurable: true, writable: true })
}

/** How a place is written, as in paths. */
export function locationText(at: Location): string {
  return at.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    if (!/^[A-Za-z_$][\w$-]*$/.test(part)) return `${text}[${JSON.stringify(part)}]`
    return text === '' ? part : `${text}.${part}`
  }, '')
}

/** Whether values at this place are text that merges key by key, as labels, annotations and a ConfigMap's data do. */
export function isTextAt([first, second]: Location | readonly Segment[]): boolean {
  return second !== undefined && (first === 'metadata' || first === 'data' || first === 'binaryData')
}
