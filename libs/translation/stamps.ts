import type { KubeObject, ObjectRef } from '#libs/kube-model'
import { hostName, hostNamespaceFor, hostRefOf } from './names.ts'
import type { TenantContext } from './view.ts'

/** Everything under this prefix is ours: it never crosses, in either direction. */
export const OWN_PREFIX = 'causeway.dev/'

/** Labels on host copies, by which they are selected. */
export const LABELS = {
  tenant: `${OWN_PREFIX}tenant`,
  namespace: `${OWN_PREFIX}namespace`,
  /** On virtual nodes: made by us, so that we may change and delete it. */
  virtualNode: `${OWN_PREFIX}virtual-node`,
  /** On a tenant's copies of classes and the like of the host, so that we may change and delete them. */
  mirror: `${OWN_PREFIX}mirror`,
  /** On Secrets that hold tokens of pods, in place of the tenant's label: the watcher does not follow them. */
  tokenOf: `${OWN_PREFIX}token-of`,
} as const

/** How the names of Secrets that hold tokens of pods begin. */
export const TOKEN_SECRET_PREFIX = 'causeway-token-'

/** Annotations on host copies, from which the way back to the tenant's object is read. */
export const ANNOTATIONS = {
  name: `${OWN_PREFIX}name`,
  namespace: `${OWN_PREFIX}namespace`,
  uid: `${OWN_PREFIX}uid`,
  /** Resource token, such as `pods` or `ingresses.networking.k8s.io`. */
  resource: `${OWN_PREFIX}resource`,
  /** `<host namespace>/<host name>` of the object itself: a copy made by a third party carries the wrong one. */
  hostName: `${OWN_PREFIX}host-name`,
  /** W3C traceparent of the change that made the copy. */
  trace: `${OWN_PREFIX}trace`,
  /** While the tenant's object is being made anew: which one goes, and what comes in its place. */
  replacement: `${OWN_PREFIX}replacement`,
  /** On a tenant's Service: the host address that its API did not accept. */
  refusedAddress: `${OWN_PREFIX}refused-address`,
  /** Kind of the controller that owns the tenant's object. */
  ownerKind: `${OWN_PREFIX}owner-kind`,
  /** For the downward API: the tenant's values where the copy's own would be the host's. */
  serviceAccountName: `${OWN_PREFIX}service-account-name`,
  labels: `${OWN_PREFIX}labels`,
  annotations: `${OWN_PREFIX}annotations`,
  /** On Secrets that hold tokens of pods: what they are of, never the tokens, and when they are asked for anew. */
  tokens: `${OWN_PREFIX}tokens`,
  renewAt: `${OWN_PREFIX}renew-at`,
} as const

/** Switches that a tenant may set on its own objects (annotations). */
export const SWITCHES = {
  /** `"true"` or `"false"`: force the object across or keep it from crossing. */
  sync: `${OWN_PREFIX}sync`,
  /** `"true"`: the host copy stays as it is. */
  pause: `${OWN_PREFIX}pause`,
} as const

export type Stamps = { labels: Record<string, string>; annotations: Record<string, string> }

/** What a host copy carries besides the tenant's own metadata. */
export function stampsFor(ref: ObjectRef, virtual: KubeObject, tenant: TenantContext): Stamps {
  const labels: Record<string, string> = { [LABELS.tenant]: tenant.name }
  const host = hostRefOf(ref, tenant)
  const annotations: Record<string, string> = {
    [ANNOTATIONS.hostName]: `${host.namespace}/${host.name}`,
    [ANNOTATIONS.name]: ref.name,
    [ANNOTATIONS.resource]: ref.resource,
    [ANNOTATIONS.uid]: virtual.metadata.uid ?? '',
  }
  if (ref.namespace !== '') {
    labels[LABELS.namespace] = ref.namespace
    annotations[ANNOTATIONS.namespace] = ref.namespace
  }
  return { labels, annotations }
}

/** Whether a host object is a copy of ours for this tenant: label, resource and the object's own name all agree. */
export function isOurs(host: KubeObject, tenant: TenantContext, resource: string): boolean {
  return (
    (host.metadata.namespace ?? '') === placeOf(host, tenant) &&
    host.metadata.labels?.[LABELS.tenant] === tenant.name &&
    host.metadata.annotations?.[ANNOTATIONS.resource] === resource &&
    carriesOwnName(host)
  )
}

/**
 * The stamps that a copy ought to have and does not; `undefined` when it is whole.
 * @param of what it is the copy of; without a uid, that stamp is not looked at
 */
export function damagedStamps(
  host: KubeObject,
  { ref, uid, tenant }: { ref: ObjectRef; uid?: string | undefined; tenant: TenantContext },
): Partial<Stamps> | undefined {
  const stamps = stampsFor(ref, { metadata: { uid: uid ?? '' } }, tenant)
  if (uid === undefined) delete stamps.annotations[ANNOTATIONS.uid]
  const labels = missingOf(stamps.labels, host.metadata.labels)
  const annotations = missingOf(stamps.annotations, host.metadata.annotations)
  if (labels === undefined && annotations === undefined) return undefined
  return { ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) }
}

function missingOf(
  wanted: Record<string, string>,
  present: Readonly<Record<string, string>> = {},
): Record<string, string> | undefined {
  const missing = Object.entries(wanted).filter(([key, value]) => present[key] !== value)
  return missing.length === 0 ? undefined : Object.fromEntries(missing)
}

/** The uid of the virtual object that a host copy was made for. */
export function stampedUid(host: KubeObject): string | undefined {
  return host.metadata.annotations?.[ANNOTATIONS.uid]
}

/**
 * The virtual object that a host copy stands for, read from its stamps. `undefined` when the stamps are missing or do
 * not agree with the object's own name, as on a copy that a third party made of one of ours.
 */
export function virtualRefOf(host: KubeObject): { tenant: string; ref: ObjectRef } | undefined {
  const annotations = host.metadata.annotations ?? {}
  const tenant = host.metadata.labels?.[LABELS.tenant]
  const name = annotations[ANNOTATIONS.name]
  const resource = annotations[ANNOTATIONS.resource]
  if (!tenant || !name || !resource || !carriesOwnName(host)) return undefined
  const ref = { resource, namespace: annotations[ANNOTATIONS.namespace] ?? '', name }
  // The configuration may name the host namespace that stands for one of the tenant's.
  const isNamed = ref.resource === 'namespaces' || hostName(ref, tenant) === host.metadata.name
  return isNamed ? { tenant, ref } : undefined
}

/** Whether a host object is the copy of exactly this virtual object. */
export function isCopyOf(host: KubeObject, tenant: TenantContext, ref: ObjectRef): boolean {
  const annotations = host.metadata.annotations ?? {}
  return (
    isOurs(host, tenant, ref.resource) &&
    annotations[ANNOTATIONS.name] === ref.name &&
    (annotations[ANNOTATIONS.namespace] ?? '') === ref.namespace
  )
}

/** The namespace that a copy must be in, by the one that it says its original is in. */
function placeOf(host: KubeObject, tenant: TenantContext): string {
  const namespace = host.metadata.annotations?.[ANNOTATIONS.namespace]
  return namespace === undefined ? '' : hostNamespaceFor(namespace, tenant)
}

function carriesOwnName(host: KubeObject): boolean {
  const { namespace, name, annotations } = host.metadata
  return annotations?.[ANNOTATIONS.hostName] === `${namespace ?? ''}/${name ?? ''}`
}
