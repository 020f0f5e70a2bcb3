import { ApiError } from '../api-error.ts'
import type { ClusterOptions } from '../hosted-cluster.ts'
import { hasToken } from './authenticate.ts'
import { parseObject, readBody } from './body.ts'
import type { Exchange } from './exchange.ts'

/** What the server's administrator may do with clusters. */
export type ClusterAdmin = {
  names(): string[]
  /** Makes the cluster unless it is there. @returns its kubeconfig */
  create(name: string, options: ClusterOptions): string
  /** Removes the cluster with all its objects. @returns false when there is none */
  delete(name: string): boolean
}

const CLUSTERS = { group: 'causeway.dev', plural: 'clusters' }
const YAML = 'application/yaml'

/**
 * `GET /causeway/clusters`, `PUT` and `DELETE /causeway/clusters/<name>`: the answer of PUT is a kubeconfig.
 * @throws ApiError
 */
export async function handleAdmin(exchange: Exchange, admin: ClusterAdmin, token: string): Promise<void> {
  if (!hasToken(exchange, token)) throw ApiError.unauthorized()
  const match = /^\/causeway\/clusters(?:\/(?<name>[^/]+))?\/?$/.exec(exchange.path)
  if (match === null) throw ApiError.notServed()
  const name = match.groups?.['name']
  if (name === undefined) {
    if (exchange.method !== 'GET') throw ApiError.methodNotAllowed()
    exchange.sendJson(200, { clusters: admin.names() })
  } else if (exchange.method === 'PUT') {
    const body = await readBody(exchange)
    const options = body.length === 0 ? {} : (parseObject(exchange, body, 'ClusterOptions') as ClusterOptions)
    exchange.send(200, admin.create(decodeURIComponent(name), options), YAML)
  } else if (exchange.method === 'DELETE') {
    if (!admin.delete(decodeURIComponent(name))) throw ApiError.notFound(CLUSTERS, name)
    exchange.sendJson(200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' })
  } else throw ApiError.methodNotAllowed()
}
