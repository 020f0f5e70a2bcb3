import { ApiError } from '../api-error.ts'
import {
  aggregatedDiscovery,
  coreVersions,
  groupDocument,
  groupList,
  resourceList,
  rootPaths,
  versionDocument,
} from '../discovery/documents.ts'
import { emptyOpenapiV2, openapiIndex, openapiV2, openapiV3 } from '../discovery/openapi.ts'
import { isBuiltInGroup } from '../discovery/resource-catalog.ts'
import type { ResourceCatalog } from '../discovery/resource-catalog.ts'
import type { Exchange } from './exchange.ts'
import { wantsAggregatedDiscovery } from './negotiate.ts'
import type { Route } from './route.ts'

export type MetaRoute = Exclude<Route, { kind: 'resource' }>

/** `prefix`: path of the cluster's root, for links. */
export type MetaPlace = { catalog: ResourceCatalog; prefix: string }

const AGGREGATED_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const TEXT = 'text/plain; charset=utf-8'
/** Clients ask by either name; answers carry the second, since `@` may not stand in a media type. */
const OPENAPI_PROTO = ['v2@v1.0', 'v2.v1.0'].map((name) => `application/com.github.proto-openapi.spec.${name}+protobuf`)
const HEALTH = /^\/(healthz|livez|readyz)(\/|$)/

/** Health and version are open to everybody. */
export function isOpenPath(path: string): boolean {
  return HEALTH.test(path) || /^\/version\/?$/.test(path)
}

/**
 * Answers what is not about objects: discovery, schemas, version, health.
 * @throws ApiError
 */
export function handleMeta(exchange: Exchange, route: MetaRoute, place: MetaPlace): void {
  if (route.kind === 'other' && HEALTH.test(route.path)) {
    const name = HEALTH.exec(route.path)?.[1] ?? ''
    exchange.send(200, exchange.query.has('verbose') ? `[+]ping ok\n${name} check passed\n` : 'ok', TEXT)
    return
  }
  const answer = metaAnswer(exchange, route, place)
  if (answer === undefined) {
    exchange.sendNotFound()
    return
  }
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') throw ApiError.methodNotAllowed()
  answer()
}

function metaAnswer(exchange: Exchange, route: MetaRoute, place: MetaPlace): (() => void) | undefined {
  const { catalog } = place
  switch (route.kind) {
    case 'root':
      return () => exchange.sendJson(200, rootPaths(catalog))
    case 'core':
      return () =>
        sendDiscovery(exchange, {
          catalog,
          scope: 'core',
          document: coreVersions(exchange.header('host') ?? exchange.header(':authority') ?? ''),
        })
    case 'groups':
      return () => sendDiscovery(exchange, { catalog, scope: 'named', document: groupList(catalog) })
    case 'group': {
      const document = groupDocument(catalog, route.group)
      return document === undefined ? undefined : () => exchange.sendJson(200, document)
    }
    case 'version':
      if (catalog.of(route).length === 0 && !isBuiltInGroup(route.group)) return undefined
      return () => exchange.sendJson(200, resourceList(catalog, route))
    case 'other':
      return otherAnswer(exchange, route.path, place)
  }
}

function sendDiscovery(
  exchange: Exchange,
  answer: { catalog: ResourceCatalog; scope: 'core' | 'named'; document: object },
): void {
  const { catalog, scope, document } = answer
  if (wantsAggregatedDiscovery(exchange.header('accept'))) {
    exchange.sendJson(200, aggregatedDiscovery(catalog, scope), { contentType: AGGREGATED_TYPE })
  } else exchange.sendJson(200, document)
}

/** Clients that want protobuf get a document without types: they then leave the checking of fields to the server. */
function sendOpenapiV2(exchange: Exchange, catalog: ResourceCatalog): void {
  const accepted = exchange.header('accept') ?? ''
  const [, answered = ''] = OPENAPI_PROTO
  if (OPENAPI_PROTO.some((type) => accepted.includes(type))) exchange.send(200, emptyOpenapiV2(), answered)
  else exchange.sendJson(200, openapiV2(catalog))
}

function otherAnswer(exchange: Exchange, path: string, place: MetaPlace): (() => void) | undefined {
  const { catalog, prefix } = place
  const clean = path.replace(/\/+$/, '')
  if (clean === '/version') return () => exchange.sendJson(200, versionDocument())
  if (clean === '/openapi/v2') return () => sendOpenapiV2(exchange, catalog)
  if (clean === '/openapi/v3') return () => exchange.sendJson(200, openapiIndex(catalog, prefix), { contentType: TEXT })
  const match = /^\/openapi\/v3\/(?:api\/(?<core>[^/]+)|apis\/(?<group>[^/]+)\/(?<version>[^/]+))$/.exec(clean)
  if (match?.groups === undefined) return undefined
  const { core, group = '', version = '' } = match.groups
  const document = openapiV3(catalog, { group: core === undefined ? group : '', version: core ?? version })
  return document === undefined ? undefined : () => exchange.sendJson(200, document)
}
