import { createHash } from 'node:crypto'

/** Where the tenant's copies are, as `causeway up` has it. */
export const hostNamespaceOf = (tenant: string): string => `causeway-${tenant}`

/**
 * The name that docs/translation.md gives a copy, worked out again: nothing here comes from the code under test. Holds
 * for names of lower-case letters, digits and dashes, which are all that the workload has.
 */
export function hostNameOf(tenant: string, { namespace, name }: { namespace: string; name: string }): string {
  const joined = [name, namespace, tenant].join('-x-')
  const isReadable = joined.length <= 63 && joined.split('-x-').length === 3 && !joined.includes('-x-x-')
  if (isReadable) return joined
  const digits = createHash('sha256').update([name, namespace, tenant].join('\0')).digest('hex').slice(0, 10)
  return `${joined.slice(0, 52).replace(/-+$/, '')}-${digits}`
}
