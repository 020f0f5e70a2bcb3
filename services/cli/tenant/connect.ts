import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { parse, stringify } from 'yaml'
import { ConfigError, errorMessage } from '#libs/kernel'
import { type CommandOptions, withRunning } from './running.ts'

type Named = { name: string; [field: string]: unknown }

/** The parts of a kubeconfig that a merge touches. */
export type Kubeconfig = {
  clusters?: Named[]
  users?: Named[]
  contexts?: (Named & { context?: { cluster?: string; user?: string; namespace?: string } })[]
  'current-context'?: string
  [field: string]: unknown
}

/**
 * Writes a tenant as context `causeway_<name>` into the user's kubeconfig and makes it the current one, as
 * `vcluster connect` does; everything else in the file stays.
 * @throws ConfigError when the tenant is unknown or a file is no kubeconfig
 */
export async function connectTenant(
  options: CommandOptions & { name: string; kubeconfig?: string; print: boolean },
): Promise<number> {
  const { name, terminal, json } = options
  const tenant = await withRunning(options, ({ registry }) => registry.get(name))
  if (tenant === undefined) throw new ConfigError([`no tenant "${name}": "causeway tenant list" shows those there are`])
  const text = readFileSync(tenant.kubeconfig, 'utf8')
  if (options.print) {
    terminal.print(text.trimEnd())
    return 0
  }
  const path = options.kubeconfig ?? process.env['KUBECONFIG']?.split(':')[0] ?? join(homedir(), '.kube', 'config')
  const context = `causeway_${name}`
  if (resolve(path).startsWith(`${join(options.folder.root, 'apiserver')}${sep}`)) {
    // A second context there would send the services to another cluster. Elsewhere in the folder nothing is theirs.
    throw new ConfigError([
      `kubeconfig ${path} belongs to the installation: unset KUBECONFIG, or name one of your own with --kubeconfig`,
    ])
  }
  const merged = mergeContext(readKubeconfig(path), readKubeconfig(tenant.kubeconfig), context)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(`${path}.new`, stringify(merged), { mode: 0o600 })
  renameSync(`${path}.new`, path)
  if (json) terminal.print(JSON.stringify({ name, context, kubeconfig: path }))
  else {
    terminal.print(`context ${context} is in ${path} and current; try "kubectl get pods -A"`)
  }
  return 0
}

/**
 * Adds the current context of one kubeconfig to another under a name of its own, replacing an earlier one of that name.
 * @throws ConfigError when the source has no usable current context
 */
export function mergeContext(into: Kubeconfig, from: Kubeconfig, name: string): Kubeconfig {
  const source = from.contexts?.find((context) => context.name === from['current-context'])
  const cluster = from.clusters?.find((entry) => entry.name === source?.context?.cluster)
  const user = from.users?.find((entry) => entry.name === source?.context?.user)
  if (source === undefined || cluster === undefined || user === undefined) {
    throw new ConfigError(['the tenant’s kubeconfig has no current context with a cluster and a user'])
  }
  const without = <T extends Named>(entries: T[] | undefined): T[] =>
    (entries ?? []).filter((entry) => entry.name !== name)
  return {
    apiVersion: 'v1',
    kind: 'Config',
    ...into,
    clusters: [...without(into.clusters), { ...cluster, name }],
    users: [...without(into.users), { ...user, name }],
    contexts: [...without(into.contexts), { name, context: { ...source.context, cluster: name, user: name } }],
    'current-context': name,
  }
}

function readKubeconfig(path: string): Kubeconfig {
  if (!existsSync(path)) return {}
  try {
    const content = parse(readFileSync(path, 'utf8')) as unknown
    if (content === null) return {}
    if (typeof content !== 'object' || Array.isArray(content)) throw new Error('it is no mapping')
    return content as Kubeconfig
  } catch (error) {
    throw new ConfigError([`kubeconfig ${path} cannot be read: ${errorMessage(error)}`], { cause: error })
  }
}
