import { createHash, timingSafeEqual } from 'node:crypto'
import { ApiError } from '../api-error.ts'
import { ADMIN, ANONYMOUS } from '../tokens/identity.ts'
import { ISSUER } from '../tokens/service-account-tokens.ts'
import type { ServiceAccountTokens, TokenCheck } from '../tokens/service-account-tokens.ts'
import type { Exchange } from './exchange.ts'
import type { Route } from './route.ts'

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** The bearer token of a request. */
export function bearerToken(exchange: Exchange): string | undefined {
  return /^Bearer +(\S+)$/i.exec(exchange.header('authorization') ?? '')?.[1]
}

/**
 * Who a token stands for: the cluster's own is its administrator's, others are those of service accounts.
 * @param audiences absent: this API
 */
export function identityOf(
  cluster: { tokens: ServiceAccountTokens },
  token: { given: string; own: string },
  audiences: readonly string[] = [ISSUER],
): TokenCheck {
  if (timingSafeEqual(digest(token.given), digest(token.own))) return { identity: ADMIN, audiences: [...audiences] }
  return cluster.tokens.check(token.given, audiences)
}

/**
 * Whether the request carries the token.
 * @throws ApiError 401 when it carries another one
 */
export function hasToken(exchange: Exchange, token: string): boolean {
  const given = bearerToken(exchange)
  if (given === undefined) return false
  if (timingSafeEqual(digest(given), digest(token))) return true
  throw ApiError.unauthorized()
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** The refusal for requests without a token. */
export function anonymousRefusal(exchange: Exchange, route: Route): ApiError {
  if (route.kind !== 'resource') {
    const verb = VERBS[exchange.method] ?? exchange.method.toLowerCase()
    return ApiError.forbiddenPath(ANONYMOUS.username, exchange.method === 'GET' ? 'get' : verb, exchange.path)
  }
  const { group, plural, namespace, name, subresource } = route
  const isWatch = exchange.query.has('watch') && exchange.query.get('watch') !== 'false'
  const read = name === undefined ? (isWatch ? 'watch' : 'list') : 'get'
  const write = exchange.method === 'DELETE' && name === undefined ? 'deletecollection' : VERBS[exchange.method]
  const what = subresource === undefined ? plural : `${plural}/${subresource}`
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`
  return ApiError.forbidden(
    { group, plural },
    name ?? '',
    `User "${ANONYMOUS.username}" cannot ${write ?? read} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`,
  )
}
