import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asObject } from '../../json.ts'

/** A claim's spec; empty where there is none. */
export function specOf(claim: KubeObject | undefined): JsonObject {
  return asObject(claim?.spec) ?? {}
}

/** Annotations by which a cluster's own controllers keep account of binding. They mean something in their cluster only. */
const CONTROLLER_ANNOTATIONS = new Set([
  'pv.kubernetes.io/bind-completed',
  'pv.kubernetes.io/bound-by-controller',
  'pv.kubernetes.io/migrated-to',
  'volume.beta.kubernetes.io/storage-provisioner',
  'volume.kubernetes.io/selected-node',
  'volume.kubernetes.io/storage-provisioner',
  'volume.kubernetes.io/storage-resizer',
  // It names a class, and the field of the spec does so on the host.
  'volume.beta.kubernetes.io/storage-class',
])

/** Those that the tenant sees of the host. */
const SHOWN_ANNOTATIONS = [
  'pv.kubernetes.io/bind-completed',
  'pv.kubernetes.io/bound-by-controller',
  'volume.beta.kubernetes.io/storage-provisioner',
  'volume.kubernetes.io/storage-provisioner',
]

/** The claim without what controllers of its own cluster keep in its annotations: that never crosses. */
export function withoutControllerAnnotations(claim: KubeObject): KubeObject {
  const { annotations, ...metadata } = claim.metadata
  const kept = Object.entries(annotations ?? {}).filter(([key]) => !CONTROLLER_ANNOTATIONS.has(key))
  return { ...claim, metadata: { ...metadata, annotations: Object.fromEntries(kept) } }
}

/** What of the host's account of binding the tenant does not see yet. */
export function shownAnnotations(virtual: KubeObject, host: KubeObject): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const key of SHOWN_ANNOTATIONS) {
    const value = host.metadata.annotations?.[key]
    if (value !== undefined && virtual.metadata.annotations?.[key] !== value) shown[key] = value
  }
  return shown
}
