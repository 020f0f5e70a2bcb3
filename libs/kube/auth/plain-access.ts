import { KubeconfigError } from '../errors.ts'
import type { ClusterAccess, TlsMaterial } from './cluster-config.ts'
import { readFileOrFail } from './kubeconfig-file.ts'
import type { KubeconfigSelection } from './kubeconfig-file.ts'

const PLUGIN_FIELDS = ['exec', 'auth-provider']
const UNSUPPORTED = ['as', 'as-uid', 'as-groups', 'as-user-extra']

/** Whether credentials come from a plugin, which needs the Kubernetes client library. */
export function needsPlugin(selection: KubeconfigSelection): boolean {
  return PLUGIN_FIELDS.some((field) => selection.user[field] !== undefined)
}

/** @throws KubeconfigError for fields that would change who we are or where we connect, and that we do not honour */
export function rejectUnsupported(selection: KubeconfigSelection): void {
  const field = UNSUPPORTED.find((name) => selection.user[name] !== undefined)
  if (field !== undefined) throw problem(selection, `user field "${field}" (impersonation) is not supported`)
  if (selection.cluster['proxy-url'] !== undefined)
    throw problem(selection, 'cluster field "proxy-url" is not supported')
}

/**
 * Access from credentials that stand in the kubeconfig or in files it names: tokens, client certificates, basic
 * auth. Most kubeconfigs are such, and reading them here spares the client library (1 s to load, 87 MB of memory).
 */
export async function plainAccess(selection: KubeconfigSelection): Promise<ClusterAccess> {
  const { cluster, user } = selection
  const [ca, cert, key, token] = await Promise.all([
    pem(selection, { fields: cluster, name: 'certificate-authority' }),
    pem(selection, { fields: user, name: 'client-certificate' }),
    pem(selection, { fields: user, name: 'client-key' }),
    tokenOf(selection),
  ])
  if ((cert === undefined) !== (key === undefined)) {
    throw problem(
      selection,
      `the user has ${cert === undefined ? 'a client-key without a client-certificate' : 'a client-certificate without a client-key'}`,
    )
  }
  return {
    server: String(cluster['server']).replace(/\/+$/, ''),
    tls: { ...clusterTls(selection), ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) },
    headers: authorization(token, user),
  }
}

/** The TLS settings that stand in the cluster entry itself. */
export function clusterTls({ cluster }: KubeconfigSelection): TlsMaterial {
  const servername = cluster['tls-server-name']
  return {
    ...(typeof servername === 'string' && { servername }),
    ...(cluster['insecure-skip-tls-verify'] === true && { rejectUnauthorized: false }),
  }
}

async function tokenOf(selection: KubeconfigSelection): Promise<string | undefined> {
  const { token, tokenFile } = selection.user
  if (typeof tokenFile === 'string')
    return (await readFileOrFail(tokenFile, `kubeconfig ${selection.path}: token ${tokenFile}`)).trim()
  return typeof token === 'string' && token !== '' ? token : undefined
}

function authorization(token: string | undefined, user: Record<string, unknown>): Record<string, string> {
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  const { username, password } = user
  if (typeof username !== 'string' || typeof password !== 'string') return {}
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}

async function pem(
  selection: KubeconfigSelection,
  source: { fields: Record<string, unknown>; name: string },
): Promise<string | undefined> {
  const data = source.fields[`${source.name}-data`]
  const path = source.fields[source.name]
  if (typeof data === 'string' && data !== '') {
    const text = Buffer.from(data, 'base64').toString('utf8')
    if (!text.includes('-----BEGIN ')) throw problem(selection, `${source.name}-data is not base64 of PEM`)
    return text
  }
  if (typeof path !== 'string' || path === '') return undefined
  return readFileOrFail(path, `kubeconfig ${selection.path}: ${source.name} ${path}`)
}

function problem(selection: KubeconfigSelection, what: string): KubeconfigError {
  return new KubeconfigError(`kubeconfig ${selection.path}, context "${selection.context}": ${what}`)
}
