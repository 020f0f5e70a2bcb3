/** JSON with sorted keys and without `undefined`: equal for equal values, whatever order they were built in. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`)
    return `{${fields.join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/** Whether two JSON values are the same; an absent field equals one that is `undefined`. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, index) => jsonEqual(item, b[index]))
  }
  const left = a as Record<string, unknown>
  const right = b as Record<string, unknown>
  for (const key of Object.keys(left)) if (!jsonEqual(left[key], own(right, key))) return false
  for (const key of Object.keys(right)) if (own(left, key) === undefined && right[key] !== undefined) return false
  return true
}

/** Keys of ConfigMaps may be called `constructor` or `toString`: what an object inherits is not its data. */
function own(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** A deep copy of a JSON value. Several times as fast as `structuredClone`, which also copies what JSON cannot hold. */
export function cloneJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => cloneJson(item)) as T
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(value)) {
    // Assigning `__proto__`, a valid key of a ConfigMap, would set the prototype and lose the data.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: cloneJson(field), ...plainProperty })
    else copy[key] = cloneJson(field)
  }
  return copy as T
}

const plainProperty = { enumerable: true, configurable: true, writable: true }
