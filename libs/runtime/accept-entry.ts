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
  const { config, problems } = parseOnce(withEntryKeys(entry))
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

/** Configurations remembered: most tenants have one of few. */
const REMEMBERED = 256
const parses = new Map<string, ReturnType<typeof parseTenantConfig>>()

/** Parses a configuration, or finds what came of the same text. Nobody changes what is parsed. */
function parseOnce(value: Record<string, unknown>): ReturnType<typeof parseTenantConfig> {
  const text = JSON.stringify(value)
  const found = parses.get(text)
  if (found !== undefined) return found
  const parsed = parseTenantConfig(value, { checkPatch })
  parses.set(text, parsed)
  for (const oldest of parses.keys().take(Math.max(0, parses.size - REMEMBERED))) parses.delete(oldest)
  return parsed
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
