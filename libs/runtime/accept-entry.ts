import { type TenantConfig, parseTenantConfig, placementProblem } from '#libs/sync-config'
import { type TenantContext, checkPatch } from '#libs/translation'
import { type TenantEntry, tenantEntrySchema } from './tenant-entry.ts'

/** A tenant as registered, with its configuration resolved. */
export type AcceptedTenant = { entry: TenantEntry; config: TenantConfig }

/**
 * Takes a registered value over what is known of the tenant. An invalid configuration leaves the one before in place; a
 * tenant that never had a valid one is not accepted, as nobody knows what of it may cross.
 * @returns what holds from now on, absent when nothing does, and what is wrong with the value
 */
export function acceptEntry(
  value: unknown,
  known: (name: string) => AcceptedTenant | undefined,
): { tenant?: AcceptedTenant; problems: string[] } {
  const parsed = tenantEntrySchema.safeParse(value)
  if (!parsed.success) {
    return { problems: parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`) }
  }
  const entry = parsed.data
  const { config, problems } = parseTenantConfig(withEntryKeys(entry), { checkPatch })
  const before = known(entry.name)
  const isSame = before?.entry.uid === entry.uid
  const moved = config !== undefined && isSame ? placementProblem(before.config, config) : undefined
  if (config !== undefined && moved === undefined) return { tenant: { entry, config }, problems: [] }
  const messages = problems.map(({ path, message }) =>
    path === '' ? `config: ${message}` : `config.${path}: ${message}`,
  )
  if (moved !== undefined) messages.push(`config.${moved}`)
  if (before?.entry.uid !== entry.uid) return { problems: messages }
  const { config: _invalid, ...rest } = entry
  const last = before.entry.config
  return {
    tenant: { entry: last === undefined ? rest : { ...rest, config: last }, config: before.config },
    problems: messages,
  }
}

/** What translation must know of an accepted tenant. */
export function contextOf({ entry, config }: AcceptedTenant): TenantContext {
  const { name, hostNamespace } = entry
  return { name, hostNamespace, config, reservedLabels: config.reservedLabels }
}

/**
 * What translation must know of a tenant as it is registered, for those who look once instead of following.
 * @returns `problems` where the value is not accepted: services then go on with the last one that was
 */
export function readTenantContext(value: unknown): { context?: TenantContext; problems: string[] } {
  const { tenant, problems } = acceptEntry(value, () => undefined)
  return tenant === undefined ? { problems } : { context: contextOf(tenant), problems }
}

/** Keys of the entry itself stand for those of the configuration where it has none. */
function withEntryKeys({ config, workloadServiceAccount, reservedLabels }: TenantEntry): Record<string, unknown> {
  return {
    ...(workloadServiceAccount === undefined ? {} : { workloadServiceAccount }),
    ...(reservedLabels === undefined ? {} : { reservedLabels }),
    ...config,
  }
}
