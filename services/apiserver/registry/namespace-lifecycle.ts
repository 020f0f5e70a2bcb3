import { ApiError } from '../api-error.ts'
import type { ApiResource } from '../discovery/resources.ts'
import type { Cluster } from './cluster.ts'

const NAMESPACES = { group: '', plural: 'namespaces' }

/** Namespaces that cannot be deleted. */
const IMMORTAL = new Set(['default', 'kube-system', 'kube-public'])

/**
 * Objects are made only in namespaces that exist and are not being deleted.
 * @throws ApiError 404 or 403
 */
export function requireActiveNamespace(
  cluster: Cluster,
  target: { resource: ApiResource; namespace: string; name: string },
): void {
  const { resource, namespace, name } = target
  const stored = cluster.store.get('namespaces', '', namespace)
  if (stored === undefined) throw ApiError.notFound(NAMESPACES, namespace)
  if (stored.object.metadata.deletionTimestamp === undefined) return
  throw ApiError.forbidden(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  )
}

/** @throws ApiError 403 for namespaces that every cluster must have */
export function requireMortalNamespace(name: string): void {
  if (IMMORTAL.has(name)) throw ApiError.forbidden(NAMESPACES, name, 'this namespace may not be deleted')
}
