import { dirname, resolve } from 'node:path'
import { readFile } from 'node:fs/promises'
import { LineCounter, parseDocument } from 'yaml'
import { errorMessage } from '#libs/kernel'
import { KubeconfigError } from '../errors.ts'

type Fields = Record<string, unknown>

/** The cluster and the user that a kubeconfig's context selects; file names are absolute. */
export type KubeconfigSelection = { path: string; context: string; cluster: Fields; user: Fields }

const FILE_FIELDS = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile']

/**
 * Reads a kubeconfig and follows its context (`current-context` unless one is named).
 * @throws KubeconfigError that names the file and what is wrong in it
 */
export async function readKubeconfig(path: string, contextName?: string): Promise<KubeconfigSelection> {
  const fail = (problem: string, cause?: unknown): never => {
    throw new KubeconfigError(`kubeconfig ${path}: ${problem}`, cause === undefined ? {} : { cause })
  }
  const config = parse(await readFileOrFail(path, `kubeconfig ${path}`), fail)
  const context = contextName ?? config['current-context']
  if (typeof context !== 'string' || context === '') {
    return fail('no current-context; set one with `kubectl config use-context` or name a context')
  }
  const selected = entry(config, { list: 'contexts', field: 'context', name: context })
  if (selected === undefined)
    return fail(`context "${context}" is not among its contexts (${names(config['contexts'])})`)
  const cluster = entry(config, { list: 'clusters', field: 'cluster', name: selected['cluster'] })
  if (cluster === undefined) {
    return fail(
      `context "${context}" names cluster "${String(selected['cluster'])}", which is not among its clusters (${names(config['clusters'])})`,
    )
  }
  const user =
    selected['user'] === undefined ? {} : entry(config, { list: 'users', field: 'user', name: selected['user'] })
  if (user === undefined) {
    return fail(
      `context "${context}" names user "${String(selected['user'])}", which is not among its users (${names(config['users'])})`,
    )
  }
  if (typeof cluster['server'] !== 'string' || !URL.canParse(cluster['server'])) {
    return fail(`the cluster of context "${context}" has no usable server URL`)
  }
  return { path, context, cluster: absolute(cluster, dirname(path)), user: absolute(user, dirname(path)) }
}

/** Reads a file that a configuration needs. @throws KubeconfigError naming the file and the system's code */
export async function readFileOrFail(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? errorMessage(error)
    throw new KubeconfigError(`${what}: file cannot be read (${code}); check the path and its permissions`, {
      cause: error,
    })
  }
}

function parse(text: string, fail: (problem: string, cause?: unknown) => never): Fields {
  const document = parseDocument(text, { lineCounter: new LineCounter(), prettyErrors: true })
  const [problem] = document.errors
  // Only the first line: the rest of a YAML error quotes the file, which holds credentials.
  if (problem !== undefined) return fail(`not valid YAML: ${problem.message.split('\n')[0]?.replace(/:$/, '')}`)
  const config: unknown = document.toJS()
  if (!isFields(config)) return fail('empty, or not a kubeconfig')
  return config
}

function entry(config: Fields, want: { list: string; field: string; name: unknown }): Fields | undefined {
  const list = config[want.list]
  if (!Array.isArray(list)) return undefined
  const found: unknown = list.find((item: unknown) => isFields(item) && item['name'] === want.name)
  if (!isFields(found)) return undefined
  const value = found[want.field]
  if (value === null || value === undefined) return {}
  return isFields(value) ? value : undefined
}

function names(list: unknown): string {
  if (!Array.isArray(list) || list.length === 0) return 'it has none'
  return list.map((item: unknown) => (isFields(item) ? String(item['name']) : '?')).join(', ')
}

function absolute(fields: Fields, folder: string): Fields {
  const copy = { ...fields }
  for (const field of FILE_FIELDS) {
    const value = copy[field]
    if (typeof value === 'string' && value !== '') copy[field] = resolve(folder, value)
  }
  return copy
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
