import { kindAndName, resourceNamed } from '#libs/explain'
import { ConfigError } from '#libs/kernel'
import type { ResourceInfo } from '#libs/kube-model'
import type { TenantEntry } from '#libs/runtime'
import { defaultTenantConfig, parseTenantConfig } from '#libs/sync-config'

/** How an object is asked for on the command line. */
export type ObjectFlags = { object: string; namespace: string }

/**
 * The kind and name that `KIND/NAME` means.
 * @param tenant whose configuration names custom resources
 * @throws ConfigError saying what is wrong
 */
export function askedObject(text: string, tenant?: TenantEntry): { info: ResourceInfo; name: string } {
  const parts = kindAndName(text)
  if (parts === undefined) throw new ConfigError([`"${text}": write KIND/NAME, as in pod/web`])
  return { info: askedKind(parts.kind, tenant), name: parts.name }
}

/** The kind that a word means. @throws ConfigError */
export function askedKind(word: string, tenant?: TenantEntry): ResourceInfo {
  const config = parseTenantConfig(tenant?.config).config ?? defaultTenantConfig()
  const named = resourceNamed(word, config)
  if (named !== undefined) return named.info
  throw new ConfigError([
    `"${word}" is no kind that is known: write it as kubectl does; a custom resource must be in the tenant’s configuration`,
  ])
}
