import { cloneJson, sha256Hex } from '#libs/kernel'
import type { JsonObject, KubeObject, ObjectRef } from '#libs/kube-model'
import { asObject, stringMap } from './json.ts'
import { hostRefOf } from './names.ts'
import { OWN_PREFIX, type Stamps, stampsFor } from './stamps.ts'
import { type KeyChanges, type Merge, overruledIn, tagsOf, threeWay } from './three-way.ts'
import type { TenantContext } from './view.ts'

const LABEL_PREFIX = `${OWN_PREFIX}label-`
const NAMESPACE_LABEL_PREFIX = `${OWN_PREFIX}ns-`
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * A label key as it stands on the host: unchanged, except for keys that the operator reserves. Keys of our own prefix
 * never cross; a selector that names one gets a key that no host object carries.
 */
export function hostLabelKey(key: string, tenant: TenantContext): string {
  return isReserved(key, tenant) || key.startsWith(OWN_PREFIX) ? `${LABEL_PREFIX}${hash10(key)}` : key
}

/** The host label that carries a label of the namespace of a pod. */
export function namespaceLabelKey(key: string): string {
  return `${NAMESPACE_LABEL_PREFIX}${hash10(key)}`
}

/** The labels of a tenant's namespace as its pods carry them on the host. */
export function namespaceLabels(namespace: KubeObject | undefined): Record<string, string> {
  return mapKeys(stringMap(namespace?.metadata.labels), namespaceLabelKey)
}

/**
 * Says which labels and annotations of a kind hold names or the like: they do not merge, and on the host have the value
 * that the kind gives them.
 */
export type OwnsKey = (key: string) => boolean

const ownsNone: OwnsKey = () => false

/**
 * The metadata of a new host copy: translated name, the tenant's labels and annotations, our stamps, and the owner that
 * the configuration names. Nothing else crosses, in particular no owner references, no finalizers.
 * @param extra what the kind adds to the stamps, and the values of the keys that it owns
 */
export function hostMetadata(
  ref: ObjectRef,
  virtual: KubeObject,
  options: { tenant: TenantContext; extra?: Partial<Stamps>; owns?: OwnsKey },
): KubeObject['metadata'] {
  const { tenant, extra, owns = ownsNone } = options
  const stamps = stampsFor(ref, virtual, tenant)
  const host = hostRefOf(ref, tenant)
  return {
    name: host.name,
    ...(host.namespace === '' ? {} : { namespace: host.namespace }),
    labels: {
      ...mapKeys(without(owns, crossingLabels(virtual)), (key) => hostLabelKey(key, tenant)),
      ...extra?.labels,
      ...stamps.labels,
    },
    annotations: { ...without(owns, crossingAnnotations(virtual)), ...extra?.annotations, ...stamps.annotations },
    ...missingOwner({ metadata: { namespace: host.namespace } }, tenant),
  }
}

/** The owners of a copy with the one that the configuration names, where that one is not among them yet. */
function missingOwner({ metadata }: KubeObject, tenant: TenantContext): { ownerReferences?: OwnerReferences } {
  const { owner } = tenant.config
  // An owner owns what is in its own namespace, no more.
  if (owner === undefined || metadata.namespace !== tenant.hostNamespace) return {}
  const { ownerReferences = [] } = metadata
  return ownerReferences.some(({ uid }) => uid === owner.uid) ? {} : { ownerReferences: [...ownerReferences, owner] }
}

/** Labels of a host object that a tenant sees as it is. */
export function mirroredLabels(object: KubeObject): Record<string, string> {
  return crossingLabels(object)
}

/** Annotations of a host object that a tenant sees as it is. */
export function mirroredAnnotations(object: KubeObject): Record<string, string> {
  return crossingAnnotations(object)
}

/** What both sides agree on after a copy was made: the part of a base that concerns metadata. */
export function metadataBase(virtual: KubeObject, owns: OwnsKey = ownsNone): JsonObject {
  return {
    labels: tagsOf(without(owns, crossingLabels(virtual))),
    annotations: tagsOf(without(owns, crossingAnnotations(virtual))),
  }
}

type OwnerReferences = NonNullable<KubeObject['metadata']['ownerReferences']>

/** Changes of metadata that a pair needs, each with the base that its side's write leads to. */
export type MetadataChanges = {
  host: { labels: KeyChanges; annotations: KeyChanges; ownerReferences?: OwnerReferences }
  virtual: { labels: KeyChanges; annotations: KeyChanges }
  baseAfterHost: JsonObject
  baseAfterVirtual: JsonObject
  /** What both sides have changed since they last agreed, as paths: there the tenant's value goes to the host. */
  overruled: string[]
}

/**
 * Compares the metadata of a pair: the tenant's labels and annotations merge key by key in both directions, what is
 * ours on the host is put right.
 * @param extra what the kind adds to the stamps; absent `labels` leave the copy's namespace labels as they are
 */
export function compareMetadata(
  pair: { virtual: KubeObject; host: KubeObject; base?: JsonObject | undefined },
  options: { ref: ObjectRef; tenant: TenantContext; extra?: Partial<Stamps>; owns?: OwnsKey },
): MetadataChanges {
  const { virtual, host, base } = pair
  const { tenant, extra, owns = ownsNone } = options
  const labels = mergeMap(base, 'labels', {
    virtual: without(owns, crossingLabels(virtual)),
    host: without(owns, labelsOfHost(host, tenant)),
  })
  const annotations = mergeMap(base, 'annotations', {
    virtual: without(owns, crossingAnnotations(virtual)),
    host: without(owns, crossingAnnotations(host)),
  })
  const stamps = stampsFor(options.ref, virtual, tenant)
  const hostLabels = stringMap(host.metadata.labels)
  const hostAnnotations = stringMap(host.metadata.annotations)
  const stale = extra?.labels === undefined ? {} : staleNamespaceLabels(hostLabels, extra.labels)
  return {
    host: {
      labels: {
        ...mapKeys(labels.toHost, (key) => hostLabelKey(key, tenant)),
        ...stale,
        ...left(owns, hostLabels, extra?.labels),
        ...differing({ ...extra?.labels, ...stamps.labels }, hostLabels),
      },
      annotations: {
        ...annotations.toHost,
        ...left(owns, hostAnnotations, extra?.annotations),
        ...differing({ ...extra?.annotations, ...stamps.annotations }, hostAnnotations),
      },
      ...missingOwner(host, tenant),
    },
    virtual: { labels: labels.toVirtual, annotations: annotations.toVirtual },
    baseAfterHost: { labels: labels.baseAfterHost, annotations: annotations.baseAfterHost },
    baseAfterVirtual: { labels: labels.baseAfterVirtual, annotations: annotations.baseAfterVirtual },
    overruled: [
      ...overruledIn('metadata.labels', labels, asObject(base?.labels)),
      ...overruledIn('metadata.annotations', annotations, asObject(base?.annotations)),
    ],
  }
}

/** The `metadata` part of a patch, or `undefined` when nothing changes. */
export function metadataPatch(changes: {
  labels: KeyChanges
  annotations: KeyChanges
  ownerReferences?: OwnerReferences
}): JsonObject | undefined {
  const patch: JsonObject = {}
  if (changes.ownerReferences !== undefined) patch.ownerReferences = cloneJson(changes.ownerReferences)
  if (Object.keys(changes.labels).length > 0) patch.labels = changes.labels
  if (Object.keys(changes.annotations).length > 0) patch.annotations = changes.annotations
  return Object.keys(patch).length === 0 ? undefined : patch
}

/** The reference to an object that is at hand. */
export function refOf(object: KubeObject, resource: string): ObjectRef {
  return { resource, namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' }
}

/** The tenant's labels that cross, under the tenant's keys. */
function crossingLabels(virtual: KubeObject): Record<string, string> {
  return filterKeys(stringMap(virtual.metadata.labels), (key) => !key.startsWith(OWN_PREFIX))
}

/** The host's labels under the tenant's keys; what is ours stays behind. */
function labelsOfHost(host: KubeObject, tenant: TenantContext): Record<string, string> {
  const reserved = new Map((tenant.reservedLabels ?? []).map((key) => [hostLabelKey(key, tenant), key]))
  const labels: [string, string][] = []
  for (const [key, value] of Object.entries(stringMap(host.metadata.labels))) {
    const original = reserved.get(key)
    if (original !== undefined) labels.push([original, value])
    // A reserved key under its own name is the operator's and not for the tenant to see.
    else if (!key.startsWith(OWN_PREFIX) && !isReserved(key, tenant)) labels.push([key, value])
  }
  return Object.fromEntries(labels)
}

function crossingAnnotations(object: KubeObject): Record<string, string> {
  return filterKeys(
    stringMap(object.metadata.annotations),
    (key) => key !== LAST_APPLIED && !key.startsWith(OWN_PREFIX),
  )
}

function mergeMap(
  base: JsonObject | undefined,
  field: 'labels' | 'annotations',
  sides: { virtual: Record<string, string>; host: Record<string, string> },
): Merge {
  return threeWay(asObject(base?.[field]), sides)
}

function without(owns: OwnsKey, map: Record<string, string>): Record<string, string> {
  return owns === ownsNone ? map : filterKeys(map, (key) => !owns(key))
}

/** Removes what the kind owns and no longer gives a value. */
function left(owns: OwnsKey, present: Record<string, string>, wanted: Record<string, string> = {}): KeyChanges {
  const stale = Object.keys(present).filter((key) => owns(key) && !Object.hasOwn(wanted, key))
  return Object.fromEntries(stale.map((key) => [key, null]))
}

function staleNamespaceLabels(host: Record<string, string>, wanted: Record<string, string>): KeyChanges {
  const stale = Object.keys(host).filter((key) => key.startsWith(NAMESPACE_LABEL_PREFIX) && !(key in wanted))
  return Object.fromEntries(stale.map((key) => [key, null]))
}

function differing(wanted: Record<string, string>, present: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => present[key] !== value))
}

function isReserved(key: string, tenant: TenantContext): boolean {
  return tenant.reservedLabels?.includes(key) ?? false
}

function filterKeys(map: Record<string, string>, keep: (key: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => keep(key)))
}

function mapKeys<T>(map: Record<string, T>, rename: (key: string) => string): Record<string, T> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [rename(key), value]))
}

function hash10(text: string): string {
  return sha256Hex(text).slice(0, 10)
}
