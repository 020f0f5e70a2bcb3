import { KINDS, type TenantContext } from '#libs/translation'

/** How many of these tenants keep objects of each kind that can cross for themselves, by resource. */
export function kindsOff(tenants: readonly Pick<TenantContext, 'config'>[]): Map<string, number> {
  const isOff = (kind: (typeof KINDS)[string]): number => tenants.filter(({ config }) => !kind.isEnabled(config)).length
  return new Map(Object.entries(KINDS).map(([resource, kind]) => [resource, isOff(kind)]))
}
