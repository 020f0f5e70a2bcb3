import type { Reason } from '#libs/events'
import type { Json, KubeObject } from '#libs/kube-model'
import { isEstablished } from './custom-resources/definition.ts'
import { DEFINITIONS } from './custom-resources/resource.ts'

/** What objects wait for that is not among their references, by resource. */
const ENDS: Readonly<Record<string, readonly Reason[]>> = {
  namespaces: ['NamespaceMissing', 'NamespaceTerminating', 'ForeignObject'],
  services: ['WaitingForDNS'],
  nodes: ['PolicyRejected'],
  'priorityclasses.scheduling.k8s.io': ['UnknownClass'],
  'storageclasses.storage.k8s.io': ['UnknownClass'],
  'ingressclasses.networking.k8s.io': ['UnknownClass'],
  'gatewayclasses.gateway.networking.k8s.io': ['UnknownClass'],
  'customresourcedefinitions.apiextensions.k8s.io': ['CrdMissing'],
  'deviceclasses.resource.k8s.io': ['UnknownClass'],
  'volumesnapshotclasses.snapshot.storage.k8s.io': ['UnknownClass'],
  'runtimeclasses.node.k8s.io': ['UnknownClass'],
}

/** What of an object must have changed for it to end one of those reasons. */
export function wakingState(resource: string, object: KubeObject): Json {
  const { spec = null, metadata } = object
  return [spec as Json, metadata.labels ?? null, resource === DEFINITIONS && isEstablished(object)]
}

/** Reasons that a new or changed object of this resource may end: whatever is parked for one of them is decided again. */
export function reasonsEndedBy(resource: string): readonly Reason[] {
  return Object.hasOwn(ENDS, resource) ? (ENDS[resource] ?? []) : []
}
