import { isObject } from '../schema/json-shape.ts'

type Step = { name: string } | { index: number } | { all: true } | { where: { path: string[]; equals: string } }

/**
 * The values at a simple JSONPath (`.spec.replicas`, `.status.conditions[?(@.type=="Ready")].status`, `.a[0]`, `.a[*]`).
 * A path that is none of these finds nothing.
 */
export function valuesAt(path: string, value: unknown): unknown[] {
  let found: unknown[] = [value]
  for (const step of parsePath(path)) found = found.flatMap((item) => take(step, item))
  return found.filter((item) => item !== undefined)
}

/** The object with a value put at a path of plain names. Not connected to the old one where it differs. */
export function withValueAt<T extends object>(object: T, path: string, value: unknown): T {
  const names = parsePath(path).flatMap((step) => ('name' in step ? [step.name] : []))
  return put(object as Record<string, unknown>, names, value) as T
}

function put(object: Record<string, unknown>, [name, ...rest]: string[], value: unknown): Record<string, unknown> {
  if (name === undefined) return object
  const child = isObject(object[name]) ? (object[name] as Record<string, unknown>) : {}
  return { ...object, [name]: rest.length === 0 ? value : put(child, rest, value) }
}

const parsed = new Map<string, readonly Step[]>()

function parsePath(path: string): readonly Step[] {
  const known = parsed.get(path)
  if (known !== undefined) return known
  const steps: Step[] = []
  const pattern =
    /\.(?<name>(?:[^.[\\]|\\.)+)|\[(?:(?<index>-?\d+)|(?<all>\*)|'(?<quoted>[^']*)'|\?\(@\.(?<where>[^=!]+?)\s*==\s*["'](?<equals>[^"']*)["']\s*\))\]/gy
  for (let match = pattern.exec(path); match !== null; match = pattern.exec(path)) {
    const { name, index, all, quoted, where, equals = '' } = match.groups ?? {}
    if (where !== undefined) steps.push({ where: { path: where.split('.'), equals } })
    else if (index !== undefined) steps.push({ index: Number(index) })
    else if (all !== undefined) steps.push({ all: true })
    else steps.push({ name: quoted ?? (name ?? '').replaceAll(/\\(.)/g, '$1') })
  }
  parsed.set(path, steps)
  return steps
}

function take(step: Step, value: unknown): unknown[] {
  if ('name' in step) return isObject(value) ? [value[step.name]] : []
  if ('all' in step) return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []
  if (!Array.isArray(value)) return []
  if ('index' in step) return [value.at(step.index)]
  const { path, equals } = step.where
  return value.filter((item) => {
    let current: unknown = item
    for (const name of path) current = isObject(current) ? current[name] : undefined
    return String(current) === equals
  })
}
