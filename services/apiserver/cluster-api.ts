import type { KubeObject, WatchEventType } from '#libs/kube-model'

export type ClusterEvent = { type: WatchEventType; object: KubeObject }

export type DeleteOptions = {
  /** Precondition: delete only the object with this uid. */
  uid?: string
  /** Precondition: delete only the object at this version. */
  resourceVersion?: string
  gracePeriodSeconds?: number
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
}

/**
 * A cluster as the controllers in the same process see it. Calls are synchronous; `resource` is a token such as `pods`
 * or `deployments.apps`. Objects that come out are the caller's own copies for `get`, `create` and `update`, and shared
 * for `list` and `subscribe`: do not change those. Failures are `ApiError`s.
 */
export type ClusterApi = {
  list(resource: string, options?: { namespace?: string; labelSelector?: string }): KubeObject[]
  get(resource: string, namespace: string | undefined, name: string): KubeObject | undefined
  create(resource: string, namespace: string | undefined, object: KubeObject): KubeObject
  update(resource: string, object: KubeObject, options?: { subresource?: 'status' | 'finalize' }): KubeObject
  delete(resource: string, namespace: string | undefined, name: string, options?: DeleteOptions): void
  /**
   * Calls back for every change from now on, after it is stored, in order and never within the call that made it.
   * @returns stops the calls
   */
  subscribe(resource: string, listener: (event: ClusterEvent) => void): () => void
}
