import { isRecord, removeAt, valueAt } from './json-path.ts'
import type { ConfigProblem } from './problem.ts'

/**
 * Moves what a `vcluster.yaml` says under other keys to ours, where ours are not given. Changes `given`.
 * @returns contradictions between the two
 */
export function adoptMeanings(given: Record<string, unknown>): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  adopt(given, ['controlPlane', 'advanced', 'workloadServiceAccount', 'name'], ['workloadServiceAccount'])
  if (valueAt(given, ['privateNodes', 'enabled']) === true) {
    const model = valueAt(given, ['nodes', 'model'])
    if (model !== undefined && model !== 'private') {
      problems.push({
        path: 'privateNodes.enabled',
        message: `contradicts nodes.model, which is ${JSON.stringify(model)}`,
      })
    } else put(given, ['nodes', 'model'], 'private')
    removeAt(given, ['privateNodes', 'enabled'])
  }
  // vCluster writes the empty text for "not set".
  if (valueAt(given, ['policies', 'podSecurityStandard']) === '') removeAt(given, ['policies', 'podSecurityStandard'])
  return problems
}

function adopt(given: Record<string, unknown>, from: readonly string[], to: readonly string[]): void {
  const value = valueAt(given, from)
  if (typeof value !== 'string') return
  if (value !== '' && valueAt(given, to) === undefined) put(given, to, value)
  removeAt(given, from)
}

function put(given: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path
  if (key === undefined) return
  if (rest.length === 0) given[key] = value
  else {
    const inner = given[key]
    const next = isRecord(inner) ? inner : {}
    given[key] = next
    put(next, rest, value)
  }
}
