import type { z } from 'zod'
import { FOREIGN_KEYS } from './foreign-keys.ts'
import { type Path, formatPath } from './json-path.ts'
import { childrenOf, schemaAt, walkSchema } from './schema-tree.ts'
import { closest } from './suggestions.ts'

const EXPECTED: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  object: 'a mapping of keys',
  record: 'a mapping of keys',
  array: 'a list',
}

/** Words for what a value should have been. Where a field has words of its own, those stay. */
export function explainIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') {
    if (issue.input === undefined) return 'is missing'
    return `must be ${EXPECTED[issue.expected] ?? issue.expected}, not ${shown(issue.input)}`
  }
  if (issue.code === 'invalid_value') {
    const values = issue.values.map(String)
    const meant = closest(String(issue.input), values)
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    return issue.input === undefined ? 'is missing' : `must be ${oneOf(values)}, not ${shown(issue.input)}${hint}`
  }
  if (issue.code === 'invalid_union') return `must be true, false or auto, not ${shown(issue.input)}`
  if (issue.code === 'too_small') {
    return issue.origin === 'string' ? 'must not be empty' : `must be at least ${String(issue.minimum)}`
  }
  if (issue.code === 'too_big') return `must be at most ${String(issue.maximum)}`
  return undefined
}

/** Says what an unknown key was most likely meant to be. */
export function explainUnknownKey(parent: Path, key: string): string {
  const schema = schemaAt(parent)
  const siblings = schema === undefined ? [] : childrenOf(schema).map(([name]) => name)
  const foreign = FOREIGN_KEYS.filter(
    ({ path }) => path.length === parent.length + 1 && parent.every((part, index) => part === path[index]),
  ).map(({ path }) => path.at(-1) ?? '')
  const near = closest(key, [...siblings, ...foreign])
  if (near !== undefined) return `is no known key; did you mean ${formatPath([...parent, near])}?`
  const elsewhere = [...walkSchema()].filter(
    ({ path }) => path.at(-1)?.toLowerCase() === key.toLowerCase() && !path.includes('*') && path.length <= 4,
  )
  if (elsewhere.length > 0 && elsewhere.length <= 3) {
    return `is no known key here; did you mean ${elsewhere.map(({ path }) => formatPath(path)).join(' or ')}?`
  }
  return `is no known key; known here are ${siblings.join(', ')}`
}

function oneOf(values: readonly string[]): string {
  return values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1) ?? ''}`
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a mapping'
  return typeof value === 'string'
    ? JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
    : String(value)
}
