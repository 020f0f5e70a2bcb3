import type { Reason } from '#libs/events'

/** What objects wait for that is not among their references, by resource. */
const ENDS: Readonly<Record<string, readonly Reason[]>> = {
  services: ['WaitingForDNS'],
  nodes: ['PolicyRejected'],
  'priorityclasses.scheduling.k8s.io': ['UnknownClass'],
  'storageclasses.storage.k8s.io': ['UnknownClass'],
  'ingressclasses.networking.k8s.io': ['UnknownClass'],
  'gatewayclasses.gateway.networking.k8s.io': ['UnknownClass'],
  'runtimeclasses.node.k8s.io': ['UnknownClass'],
}

/** Reasons that a new or changed object of this resource may end: whatever is parked for one of them is decided again. */
export function reasonsEndedBy(resource: string): readonly Reason[] {
  return Object.hasOwn(ENDS, resource) ? (ENDS[resource] ?? []) : []
}
