/** Keys and indexes on the way to a value. */
export type Path = readonly PropertyKey[]

/** A path as people write it: `sync.toHost.customResources["certificates.cert-manager.io"].patches[0]`. */
export function formatPath(path: Path): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else if (/^[A-Za-z_][A-Za-z0-9_-]*$/.test(String(part))) text += text === '' ? String(part) : `.${String(part)}`
    else text += `[${JSON.stringify(String(part))}]`
  }
  return text
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at a path of keys, `undefined` where it is not there. */
export function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root
  for (const key of path) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

/** Takes out what is at a path of keys, and mappings that are empty without it. Changes `root`. */
export function removeAt(root: Record<string, unknown>, path: readonly string[]): void {
  const [key, ...rest] = path
  if (key === undefined || !Object.hasOwn(root, key)) return
  const inner = root[key]
  if (rest.length > 0 && isRecord(inner)) removeAt(inner, rest)
  if (rest.length === 0 || (isRecord(inner) && Object.keys(inner).length === 0)) delete root[key]
}

/** A copy without keys whose value is null: as in Helm, such a key counts as not given. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[key, withoutNulls(inner)]])),
  )
}
