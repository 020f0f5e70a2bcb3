import type { KubeObject } from '#libs/kube-model'
import { ApiError } from '../api-error.ts'
import type { ClusterApi, DeleteOptions } from '../cluster-api.ts'

/**
 * Deletes exactly this object; nothing happens when it is gone already or another one took its name. Level-triggered
 * loops hear of both by events.
 */
export function deleteObject(
  api: ClusterApi,
  resource: string,
  { metadata }: Pick<KubeObject, 'metadata'>,
  options: DeleteOptions = {},
): void {
  const precondition = metadata.uid === undefined ? {} : { uid: metadata.uid }
  try {
    api.delete(resource, metadata.namespace, metadata.name ?? '', { ...precondition, ...options })
  } catch (error) {
    if (!(error instanceof ApiError && (error.code === 404 || error.code === 409))) throw error
  }
}
