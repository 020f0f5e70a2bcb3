import type { JsonObject } from '#libs/kube-model'
import { asObject, objectsIn, textOf } from './json.ts'

/**
 * Whether labels match a label selector, as Kubernetes has it: all terms must hold, and an empty selector matches
 * everything. A term of an operator that is not known does not hold.
 */
export function matchesSelector(labels: Readonly<Record<string, string>>, selector: unknown): boolean {
  const { matchLabels, matchExpressions } = asObject(selector) ?? {}
  return (
    Object.entries(asObject(matchLabels) ?? {}).every(([key, value]) => valueOf(labels, key) === value) &&
    objectsIn(matchExpressions).every((term) => holds(labels, term))
  )
}

function holds(labels: Readonly<Record<string, string>>, term: JsonObject): boolean {
  const value = valueOf(labels, textOf(term.key))
  const values: unknown[] = Array.isArray(term.values) ? term.values : []
  switch (textOf(term.operator)) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      return false
  }
}

function valueOf(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined
}
