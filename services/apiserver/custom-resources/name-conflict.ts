import { hasCondition } from './definition.ts'
import type { Definition } from './definition.ts'

/** Why the names of a definition cannot be used: another one of its group has them; `undefined` when they can. */
export function nameConflict(
  definition: Definition,
  others: readonly Definition[],
): { reason: string; message: string } | undefined {
  const { group, names } = definition.spec
  const taken = others
    .filter(({ metadata, spec }) => metadata.name !== definition.metadata.name && spec.group === group)
    .filter((other) => hasCondition(other, 'Established'))
    .map(({ spec }) => spec.names)
  const resourceNames = new Set(taken.flatMap((used) => [used.plural, used.singular, ...(used.shortNames ?? [])]))
  const kinds = new Set(taken.flatMap((used) => [used.kind, used.listKind]))
  const inUse = (reason: string, name: string): { reason: string; message: string } => ({
    reason,
    message: `${JSON.stringify(name)} is already in use`,
  })
  if (resourceNames.has(names.plural)) return inUse('PluralConflict', names.plural)
  if (names.singular !== undefined && resourceNames.has(names.singular)) {
    return inUse('SingularConflict', names.singular)
  }
  const shortName = (names.shortNames ?? []).find((name) => resourceNames.has(name))
  if (shortName !== undefined) return inUse('ShortNamesConflict', shortName)
  if (kinds.has(names.kind)) return inUse('KindConflict', names.kind)
  if (names.listKind !== undefined && kinds.has(names.listKind)) return inUse('ListKindConflict', names.listKind)
  return undefined
}
