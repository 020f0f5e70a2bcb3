import type { z } from 'zod'
import { findContradictions } from './checks.ts'
import { FOREIGN_KEYS } from './foreign-keys.ts'
import { adoptMeanings } from './adopt.ts'
import { type Path, formatPath, isRecord, removeAt, valueAt, withoutNulls } from './json-path.ts'
import type { ConfigProblem } from './problem.ts'
import { tenantConfigSchema } from './schema.ts'
import { explainIssue, explainUnknownKey } from './explain.ts'
import { type PatchConfig, type TenantConfig, deepFreeze, resolve } from './tenant-config.ts'

export type ParsedConfig = {
  /** Absent when there are problems. */
  config?: TenantConfig
  /** All that is wrong, in the order of the file. */
  problems: ConfigProblem[]
  /** Keys of a `vcluster.yaml` that have no meaning here. */
  ignored: string[]
}

export type ParseOptions = {
  /** Says what is wrong with a patch's path or expressions, for callers that can run them. */
  checkPatch?: (patch: PatchConfig) => string | undefined
}

/**
 * Reads a tenant's configuration: ours, or a whole `vcluster.yaml`. Keys whose value is null count as not given. Never
 * throws; the result of a resolved configuration is that configuration.
 */
export function parseTenantConfig(value: unknown, options: ParseOptions = {}): ParsedConfig {
  const given = withoutNulls(value ?? {})
  if (!isRecord(given)) return { problems: [{ path: '', message: 'must be a mapping of keys' }], ignored: [] }
  const problems = adoptMeanings(given)
  const ignored: string[] = []
  for (const { path, refused } of FOREIGN_KEYS) {
    const found = valueAt(given, path)
    if (found === undefined) continue
    // A key that is refused when on says, when off, what holds here anyway.
    if (refused === undefined) ignored.push(path.join('.'))
    else if (refused.when(found)) {
      problems.push({ path: path.join('.'), message: `is not supported: ${refused.instead}` })
    }
    removeAt(given, path)
  }
  const parsed = tenantConfigSchema.safeParse(given, { error: explainIssue })
  if (!parsed.success) problems.push(...parsed.error.issues.flatMap(problemsOf))
  const sound = parsed.success ? parsed : tenantConfigSchema.safeParse(withoutIssues(given, parsed.error.issues))
  if (sound.success) problems.push(...findContradictions(sound.data, options.checkPatch))
  if (problems.length > 0 || !parsed.success) return { problems, ignored }
  return { config: deepFreeze(resolve(parsed.data)), problems, ignored }
}

function problemsOf(issue: z.core.$ZodIssue): ConfigProblem[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: formatPath(issue.path), message: issue.message }]
  return issue.keys.map((key) => ({
    path: formatPath([...issue.path, key]),
    message: explainUnknownKey(issue.path, key),
  }))
}

/** What remains when all that is unsound is taken out, so that the rest can be checked as well. */
function withoutIssues(given: Record<string, unknown>, issues: readonly z.core.$ZodIssue[]): Record<string, unknown> {
  const rest = structuredClone(given)
  for (const issue of issues) {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : [undefined]
    for (const key of keys) {
      const path = beforeIndex(key === undefined ? issue.path : [...issue.path, key])
      // What is missing makes what it is missing from unsound.
      removeAt(rest, valueAt(rest, path) === undefined ? path.slice(0, -1) : path)
    }
  }
  return rest
}

/** A list with an unsound item is left out as a whole. */
function beforeIndex(path: Path): string[] {
  const index = path.findIndex((part) => typeof part === 'number')
  return (index < 0 ? path : path.slice(0, index)).map(String)
}
