import { performance } from 'node:perf_hooks'
import { ApiError } from '../api-error.ts'
import { ResourceCatalog } from '../discovery/resource-catalog.ts'
import type { Cluster } from '../registry/cluster.ts'
import { ANONYMOUS } from '../tokens/identity.ts'
import { anonymousRefusal, bearerToken, identityOf } from './authenticate.ts'
import { Exchange, asApiError } from './exchange.ts'
import type { Request, Response } from './exchange.ts'
import { handleMeta, isOpenPath } from './meta-handler.ts'
import { handleResource } from './resource-handler.ts'
import type { ResourceRequest } from './resource-request.ts'
import { parseRoute } from './route.ts'
import type { WatchSettings } from './watch-settings.ts'

/** A cluster as requests find it. */
type ServedCluster = { cluster: Cluster; token: string }

type DispatcherLog = {
  debug(fields: object, message: string): void
  error(fields: object, message: string): void
}

export type DispatcherOptions = {
  /** The cluster of a name. */
  find: (name: string) => ServedCluster | undefined
  /** This cluster is also served at the root of the server. */
  rootCluster?: string | undefined
  /** Answers below `/causeway/`. */
  admin: (exchange: Exchange) => Promise<void>
  watchSettings: WatchSettings
  log: DispatcherLog
}

const CLUSTER_PATH = /^\/clusters\/(?<name>[^/]+)(?<path>\/.*)?$/

/** The handler of all requests: finds the cluster, checks the token, answers; whatever is thrown becomes a Status. */
export function createDispatcher(options: DispatcherOptions): (request: Request, response: Response) => void {
  return (request, response) => {
    const url = request.url ?? '/'
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    const exchange = new Exchange(request, response, {
      path,
      query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)),
    })
    const start = performance.now()
    response.on('error', () => response.destroy())
    response.on('close', () => {
      const durMs = Math.round(performance.now() - start)
      options.log.debug({ method: exchange.method, path, status: response.statusCode, durMs }, 'request')
    })
    void answer(exchange, options).catch((error: unknown) => refuse(exchange, error, options.log))
  }
}

async function answer(exchange: Exchange, options: DispatcherOptions): Promise<void> {
  const match = CLUSTER_PATH.exec(exchange.path)
  if (match?.groups !== undefined) {
    const { name = '', path = '/' } = match.groups
    await answerCluster(exchange.at(path), options, { name: decodeURIComponent(name), prefix: `/clusters/${name}` })
  } else if (exchange.path.startsWith('/causeway/')) {
    await options.admin(exchange)
  } else if (options.rootCluster !== undefined) {
    await answerCluster(exchange, options, { name: options.rootCluster, prefix: '' })
  } else if (isOpenPath(exchange.path)) {
    handleMeta(exchange, { kind: 'other', path: exchange.path }, { catalog: new ResourceCatalog(), prefix: '' })
  } else {
    exchange.sendNotFound()
  }
}

async function answerCluster(
  exchange: Exchange,
  options: DispatcherOptions,
  place: { name: string; prefix: string },
): Promise<void> {
  const served = options.find(place.name)
  if (served === undefined) {
    exchange.send(404, `there is no cluster ${place.name}\n`, 'text/plain; charset=utf-8')
    return
  }
  const route = parseRoute(exchange.path)
  const { cluster, token: own } = served
  const authenticate: ResourceRequest['authenticate'] = (given, audiences) =>
    identityOf(cluster, { given, own }, audiences)
  const token = bearerToken(exchange)
  const check = token === undefined ? undefined : authenticate(token)
  if (check !== undefined && 'problem' in check) throw ApiError.unauthorized()
  if (check === undefined && !isOpenPath(exchange.path)) throw anonymousRefusal(exchange, route)
  const user = check?.identity ?? ANONYMOUS
  if (route.kind === 'resource') {
    const { watchSettings } = options
    await handleResource(cluster, exchange, { route, watchSettings, user, authenticate })
  } else handleMeta(exchange, route, { catalog: cluster.catalog, prefix: place.prefix })
}

function refuse(exchange: Exchange, error: unknown, log: DispatcherLog): void {
  if (exchange.response.destroyed) return
  const known = asApiError(error)
  if (known === undefined) log.error({ err: error, method: exchange.method, path: exchange.path }, 'request failed')
  exchange.sendError(known ?? ApiError.internal('internal error: see the log of the API server'))
}
