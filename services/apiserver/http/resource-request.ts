import { ApiError } from '../api-error.ts'
import type { ApiResource } from '../discovery/resources.ts'
import type { Cluster } from '../registry/cluster.ts'
import { storageResource } from '../registry/conversion.ts'
import type { ObjectTarget } from '../registry/update.ts'
import type { Identity } from '../tokens/identity.ts'
import type { TokenCheck } from '../tokens/service-account-tokens.ts'
import type { Exchange } from './exchange.ts'
import type { WatchSettings } from './watch-settings.ts'

/** A request for a resource, with everything its handler needs. */
export type ResourceRequest = {
  cluster: Cluster
  exchange: Exchange
  /** As addressed. */
  resource: ApiResource
  /** Absent: all namespaces, or none for cluster-scoped resources. */
  namespace: string | undefined
  name: string | undefined
  subresource: string | undefined
  watchSettings: WatchSettings
  /** Who asks. */
  user: Identity
  /** Who a bearer token stands for. */
  authenticate: (token: string, audiences?: readonly string[]) => TokenCheck
}

/** The stored object that a request addresses. @throws ApiError 404 when the path lacks the namespace */
export function targetOf(request: ResourceRequest): ObjectTarget {
  const { resource, namespace, name } = request
  if (name === undefined || (resource.namespaced && namespace === undefined)) throw ApiError.notServed()
  return { resource: storageResource(resource), namespace: resource.namespaced ? (namespace ?? '') : '', name }
}
