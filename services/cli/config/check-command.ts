import { ConfigError } from '#libs/kernel'
import type { Terminal } from '../output/terminal.ts'
import { planUp } from '../up/plan.ts'
import { checkConfig, readYaml } from './read-config.ts'

/**
 * Says all that is wrong with a `causeway.yaml`, a tenant's configuration or a `vcluster.yaml`, and what of it has no
 * meaning here.
 * @returns 0 when nothing is wrong, otherwise 1
 */
export function checkConfigFile({ file, json, terminal }: { file: string; json: boolean; terminal: Terminal }): number {
  const { problems, notices } = check(file)
  if (json) terminal.print(JSON.stringify({ valid: problems.length === 0, problems, notices }))
  else {
    for (const line of [...problems, ...notices]) terminal.print(line)
    const count = problems.length
    terminal.print(count === 0 ? `${file}: valid` : `${file}: ${count} ${count === 1 ? 'problem' : 'problems'}`)
  }
  return problems.length === 0 ? 0 : 1
}

function check(file: string): { problems: readonly string[]; notices: string[] } {
  try {
    const content = readYaml(file)
    if (isEmpty(content)) return { problems: [], notices: [`${file}: nothing is configured: the defaults hold`] }
    if (!isInstallation(content)) return checkConfig(content, file)
    const { notices = [] } = planUp({ tenants: [], config: { path: file, content }, readFile: readYaml })
    return { problems: [], notices }
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems, notices: [] }
    throw error
  }
}

function isEmpty(content: unknown): boolean {
  return content === null || (typeof content === 'object' && Object.keys(content).length === 0)
}

/** Whether this is a `causeway.yaml`: no key of a tenant's configuration has these names. */
function isInstallation(content: unknown): boolean {
  return typeof content === 'object' && content !== null && ('tenants' in content || 'host' in content)
}
