import { dirname, resolve } from 'node:path'
import { ConfigError } from '#libs/kernel'
import { tenantNameProblem } from '#libs/translation'
import { type CheckedConfig, checkConfig } from '../config/read-config.ts'

/** A tenant to serve: embedded when it brings no kubeconfig. */
export type PlannedTenant = {
  name: string
  kubeconfig?: string
  hostNamespace: string
  /** Its configuration, valid. Absent: what it was last given holds. */
  config?: Record<string, unknown>
}

/** What `causeway up` is to start. */
export type UpPlan = {
  /** Kubeconfig of the host; embedded when absent. */
  hostKubeconfig?: string
  tenants: PlannedTenant[]
  /** What to tell about the config file although nothing is wrong with it. */
  notices?: string[]
}

export type UpInput = {
  hostKubeconfig?: string | undefined
  /** `NAME`, or `NAME=KUBECONFIG[,namespace=HOSTNS]`. */
  tenants: readonly string[]
  /** The parsed config file. */
  config?: { path: string; content: unknown } | undefined
  /** Parses a file that the config file names; throws a ConfigError that says what is wrong with it. */
  readFile?: (path: string) => unknown
}

const DEFAULT_TENANTS = ['team-a', 'team-b']
/** Name of the embedded cluster that is the host. */
export const HOST_CLUSTER = 'host'

const CONFIG_KEYS = ['host', 'tenants']
const TENANT_KEYS = ['name', 'kubeconfig', 'namespace', 'config', 'configFile']
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** The host namespace of a tenant that names none. */
export function defaultHostNamespace(tenant: string): string {
  return `causeway-${tenant}`
}

/**
 * Puts flags and config file together. Without either: an embedded host with two embedded tenants.
 * @throws ConfigError with every problem, each naming its flag or its path in the file
 */
export function planUp(input: UpInput): UpPlan {
  const problems: string[] = []
  const fromFlags = input.tenants.flatMap((text) => parseTenantFlag(text, problems))
  const fromFile = input.config === undefined ? undefined : readConfig(input.config, problems, input.readFile)
  if (fromFile?.hostKubeconfig !== undefined && input.hostKubeconfig !== undefined) {
    problems.push('--host-kubeconfig: the config file names a host as well; give one of the two')
  }
  const hostKubeconfig = input.hostKubeconfig ?? fromFile?.hostKubeconfig
  const given = [...(fromFile?.tenants ?? []), ...fromFlags]
  const tenants = given.length > 0 || fromFile !== undefined ? given : DEFAULT_TENANTS.map((name) => tenant(name))
  const names = new Set<string>()
  for (const { name } of tenants) {
    if (names.has(name)) problems.push(`tenant "${name}" is given twice`)
    names.add(name)
  }
  problems.push(...sharedNamespaces(tenants))
  if (
    hostKubeconfig === undefined &&
    tenants.some(({ name, kubeconfig }) => name === HOST_CLUSTER && kubeconfig === undefined)
  ) {
    problems.push(`tenant "${HOST_CLUSTER}": the embedded host has this name; choose another`)
  }
  if (problems.length > 0) throw new ConfigError(problems)
  const notices = fromFile?.notices ?? []
  return {
    ...(hostKubeconfig === undefined ? {} : { hostKubeconfig }),
    tenants,
    ...(notices.length === 0 ? {} : { notices }),
  }
}

/** What is wrong with tenants that share a host namespace: deleting one of them would take the others' pods with it. */
export function sharedNamespaces(tenants: readonly { name: string; hostNamespace: string }[]): string[] {
  const owners = new Map<string, string>()
  return tenants.flatMap(({ name, hostNamespace }) => {
    const owner = owners.get(hostNamespace)
    if (owner === undefined) owners.set(hostNamespace, name)
    return owner === undefined || owner === name
      ? []
      : [`tenant "${name}": host namespace "${hostNamespace}" is tenant "${owner}"'s; give each tenant one of its own`]
  })
}

function tenant(name: string, options: { kubeconfig?: string; namespace?: string } = {}): PlannedTenant {
  const { kubeconfig, namespace } = options
  return {
    name,
    hostNamespace: namespace ?? defaultHostNamespace(name),
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
  }
}

function parseTenantFlag(text: string, problems: string[]): PlannedTenant[] {
  const where = `--tenant ${text}`
  const [first = '', ...options] = text.split(',')
  const equals = first.indexOf('=')
  const name = equals < 0 ? first : first.slice(0, equals)
  const kubeconfig = equals < 0 ? undefined : first.slice(equals + 1)
  let namespace: string | undefined
  for (const option of options) {
    const value = /^namespace=(.*)$/.exec(option)?.[1]
    if (value === undefined) problems.push(`${where}: unknown option "${option}"; the only one is namespace=HOSTNS`)
    else namespace = value
  }
  if (kubeconfig === '')
    problems.push(`${where}: no kubeconfig after "="; write NAME=KUBECONFIG, or NAME alone for an embedded cluster`)
  return checked(where, { name, kubeconfig: kubeconfig === '' ? undefined : kubeconfig, namespace }, problems)
}

function readConfig(
  config: { path: string; content: unknown },
  problems: string[],
  readFile: UpInput['readFile'],
): { hostKubeconfig?: string; tenants: PlannedTenant[]; notices: string[] } {
  const { path, content } = config
  const notices: string[] = []
  if (!isRecord(content)) {
    problems.push(`${path}: must be a mapping with the keys ${CONFIG_KEYS.join(' and ')}`)
    return { tenants: [], notices }
  }
  unknownKeys(path, '', content, CONFIG_KEYS, problems)
  const host = content['host'] ?? {}
  let hostKubeconfig: string | undefined
  if (!isRecord(host)) problems.push(`${path}: host: must be a mapping with the key kubeconfig`)
  else {
    unknownKeys(path, 'host.', host, ['kubeconfig'], problems)
    hostKubeconfig = text(host['kubeconfig'], `${path}: host.kubeconfig`, problems)
  }
  const list = content['tenants'] ?? []
  if (!Array.isArray(list)) problems.push(`${path}: tenants: must be a list`)
  const tenants = (Array.isArray(list) ? list : []).flatMap((entry: unknown, index) => {
    const where = `${path}: tenants[${index}]`
    if (!isRecord(entry)) {
      problems.push(`${where}: must be a mapping with the keys ${TENANT_KEYS.join(', ')}`)
      return []
    }
    unknownKeys(path, `tenants[${index}].`, entry, TENANT_KEYS, problems)
    const name = text(entry['name'], `${where}.name`, problems)
    if (name === undefined) {
      if (entry['name'] === undefined) problems.push(`${where}.name: is missing`)
      return []
    }
    const kubeconfig = text(entry['kubeconfig'], `${where}.kubeconfig`, problems)
    const namespace = text(entry['namespace'], `${where}.namespace`, problems)
    const given = configOf(entry, { path, prefix: `tenants[${index}].`, readFile })
    problems.push(...given.problems)
    notices.push(...given.notices)
    const { config: tenantConfig } = given
    return checked(where, { name, kubeconfig, namespace }, problems).map((planned) => ({
      ...planned,
      ...(tenantConfig === undefined ? {} : { config: tenantConfig }),
    }))
  })
  return { ...(hostKubeconfig === undefined ? {} : { hostKubeconfig }), tenants, notices }
}

/** The configuration that an entry of `tenants` gives, inline or by a file. */
function configOf(
  entry: Record<string, unknown>,
  { path, prefix, readFile }: { path: string; prefix: string; readFile: UpInput['readFile'] },
): CheckedConfig {
  const { config, configFile } = entry
  if (config !== undefined && configFile !== undefined) {
    return { problems: [`${path}: ${prefix}configFile: give either this or config`], notices: [] }
  }
  if (config !== undefined) return checkConfig(config, path, `${prefix}config.`)
  const problems: string[] = []
  const file = text(configFile, `${path}: ${prefix}configFile`, problems)
  if (file === undefined || readFile === undefined) return { problems, notices: [] }
  const at = resolve(dirname(path), file)
  try {
    return checkConfig(readFile(at), at)
  } catch (error) {
    if (error instanceof ConfigError) return { problems: [...error.problems], notices: [] }
    throw error
  }
}

function checked(
  where: string,
  given: { name: string; kubeconfig: string | undefined; namespace: string | undefined },
  problems: string[],
): PlannedTenant[] {
  const problem = tenantNameProblem(given.name)
  if (problem !== undefined) problems.push(`${where}: ${problem}`)
  if (given.namespace !== undefined && !NAMESPACE.test(given.namespace)) {
    problems.push(`${where}: namespace "${given.namespace}" is no DNS label of at most 63 characters`)
  }
  // A tenant's pods there would be among those that run the host, and the uid of kube-system tells clusters apart.
  if (given.namespace?.startsWith('kube-') === true) {
    problems.push(
      `${where}: namespace "${given.namespace}" is the host's own: names that begin with kube- are reserved`,
    )
  }
  if (problem !== undefined) return []
  const { name, kubeconfig, namespace } = given
  return [
    tenant(name, {
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(namespace === undefined ? {} : { namespace }),
    }),
  ]
}

function unknownKeys(path: string, prefix: string, given: object, known: readonly string[], problems: string[]): void {
  for (const key of Object.keys(given)) {
    if (!known.includes(key)) problems.push(`${path}: ${prefix}${key}: unknown key; known are ${known.join(', ')}`)
  }
}

function text(value: unknown, where: string, problems: string[]): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string' && value !== '') return value
  problems.push(`${where}: must be a text that is not empty`)
  return undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
