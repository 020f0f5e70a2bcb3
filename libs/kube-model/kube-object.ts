/** Any JSON value, as it stands in an API object. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** A JSON object. */
export type JsonObject = { [key: string]: Json }

/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/, the fields we read. */
export type ObjectMeta = {
  name?: string
  generateName?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: JsonObject[]
}

export type OwnerReference = {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

/**
 * A Kubernetes object as raw JSON. Fields that we do not know are kept: objects never pass through generated models,
 * which would drop them.
 */
export type KubeObject = {
  apiVersion?: string
  kind?: string
  metadata: ObjectMeta
  [field: string]: unknown
}

/** One event of a watch (API conventions, "Watch notifications"). */
export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED'
