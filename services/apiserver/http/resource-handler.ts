import { ApiError } from '../api-error.ts'
import type { ApiResource } from '../discovery/resources.ts'
import { isBuiltInGroup } from '../discovery/resource-catalog.ts'
import type { Cluster } from '../registry/cluster.ts'
import {
  handleCollectionDelete,
  handleCreate,
  handleDelete,
  handleGet,
  handleList,
  handleUpdate,
} from './crud-handlers.ts'
import type { Exchange } from './exchange.ts'
import { boolParam } from './list-options.ts'
import { handlePatch } from './patch-handler.ts'
import type { ResourceRequest } from './resource-request.ts'
import type { Route } from './route.ts'
import { handleSubresource } from './subresource-handler.ts'
import { handleReview, isReview } from './review-handlers.ts'
import { handleWatch } from './watch-handler.ts'

export type ResourceRoute = Extract<Route, { kind: 'resource' }>

/** What clients are told when they use a resource that goes away. */
const DEPRECATED: Readonly<Record<string, string>> = {
  componentstatuses: 'v1 ComponentStatus is deprecated in v1.19+',
  endpoints: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
}

/** Answers a request for a resource. @throws ApiError */
export async function handleResource(
  cluster: Cluster,
  exchange: Exchange,
  options: { route: ResourceRoute } & Pick<ResourceRequest, 'watchSettings' | 'user' | 'authenticate'>,
): Promise<void> {
  const { route, ...rest } = options
  const resource = cluster.catalog.find(route, route.plural)
  if (resource === undefined || (!resource.namespaced && route.namespace !== undefined)) {
    if (isBuiltInGroup(route.group)) throw ApiError.notServed()
    exchange.sendNotFound()
    return
  }
  const warning = resource.custom?.warning ?? DEPRECATED[resource.token]
  if (warning !== undefined) exchange.warn(warning)
  const { namespace, name, subresource } = route
  const request: ResourceRequest = { cluster, exchange, resource, namespace, name, subresource, ...rest }
  if (route.watch) await handleWatch(request)
  else if (subresource !== undefined) await handleSubresource(request)
  else if (isReview(resource)) await handleReview(request)
  else if (name !== undefined) await handleObject(request)
  else await handleCollection(request)
}

function requireVerb(resource: ApiResource, verb: string): void {
  if (!resource.verbs.includes(verb)) throw ApiError.methodNotAllowed()
}

async function handleObject(request: ResourceRequest): Promise<void> {
  const { resource, exchange } = request
  if (resource.namespaced && request.namespace === undefined) throw ApiError.notServed()
  switch (exchange.method) {
    case 'GET':
    case 'HEAD':
      requireVerb(resource, 'get')
      handleGet(request)
      return
    case 'PUT':
      requireVerb(resource, 'update')
      await handleUpdate(request)
      return
    case 'PATCH':
      requireVerb(resource, 'patch')
      await handlePatch(request)
      return
    case 'DELETE':
      requireVerb(resource, 'delete')
      await handleDelete(request)
      return
    default:
      throw ApiError.methodNotAllowed()
  }
}

async function handleCollection(request: ResourceRequest): Promise<void> {
  const { resource, exchange, namespace } = request
  const isWhole = resource.namespaced && namespace === undefined
  switch (exchange.method) {
    case 'GET':
    case 'HEAD':
      if (boolParam(exchange.query, 'watch') === true) {
        requireVerb(resource, 'watch')
        await handleWatch(request)
        return
      }
      requireVerb(resource, 'list')
      handleList(request)
      return
    case 'POST':
      requireVerb(resource, 'create')
      if (isWhole) throw ApiError.methodNotAllowed()
      await handleCreate(request)
      return
    case 'DELETE':
      requireVerb(resource, 'deletecollection')
      if (isWhole) throw ApiError.methodNotAllowed()
      await handleCollectionDelete(request)
      return
    default:
      throw ApiError.methodNotAllowed()
  }
}
