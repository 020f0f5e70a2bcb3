import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { ConfigError, errorMessage } from '#libs/kernel'
import { parseTenantConfig } from '#libs/sync-config'
import { checkPatch } from '#libs/translation'

/** A tenant's configuration as written, found to be valid. */
export type CheckedConfig = {
  /** Absent when there are problems. */
  config?: Record<string, unknown>
  /** One line for each thing wrong, with where it was written. */
  problems: string[]
  /** One line with all keys that have no meaning here, when there are any. */
  notices: string[]
}

/**
 * Checks a tenant's configuration.
 * @param where what the lines begin with, for example the file's path
 * @param prefix what the paths begin with when it is a part of the file, for example `tenants[0].config.`
 */
export function checkConfig(value: unknown, where: string, prefix = ''): CheckedConfig {
  const { config, problems, ignored } = parseTenantConfig(value, { checkPatch })
  const at = (path: string): string => `${where}: ${`${prefix}${path}`.replace(/\.$/, '')}`.replace(/: $/, '')
  return {
    ...(config === undefined ? {} : { config: (value ?? {}) as Record<string, unknown> }),
    problems: problems.map(({ path, message }) => `${at(path)}: ${message}`),
    notices:
      ignored.length === 0
        ? []
        : [`${where}: ignored, as it has no meaning here: ${ignored.map((path) => `${prefix}${path}`).join(', ')}`],
  }
}

/**
 * Reads a YAML file.
 * @throws ConfigError that names the file
 */
export function readYaml(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8')) as unknown
  } catch (error) {
    throw new ConfigError([`${path}: ${errorMessage(error)}`], { cause: error })
  }
}

/**
 * Reads and checks the file of a tenant's configuration.
 * @throws ConfigError with all that is wrong with it
 */
export function readTenantConfig(path: string): { config: Record<string, unknown>; notices: string[] } {
  const { config, problems, notices } = checkConfig(readYaml(path), path)
  if (config === undefined) throw new ConfigError(problems)
  return { config, notices }
}
