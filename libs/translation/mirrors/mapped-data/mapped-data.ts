import type { DeleteProof, SidedRef, Write } from '#libs/events'
import { cloneJson } from '#libs/kernel'
import { type JsonObject, type KubeObject, RESOURCES, type ResourceInfo, apiVersionOf } from '#libs/kube-model'
import { type TenantConfig, isEnabled } from '#libs/sync-config'
import type { Decision, Rule } from '../../decision.ts'
import { asObject, presentFields, stringMap } from '../../json.ts'
import type { Mirror } from '../../kind.ts'
import { mergePatchOf } from '../../merge-patch.ts'
import { mirroredAnnotations, mirroredLabels } from '../../metadata.ts'
import { LABELS, virtualRefOf } from '../../stamps.ts'
import type { View } from '../../view.ts'
import { mappedNamespaces, originalOf, shownAs } from './mapping.ts'

export type MappedDataOptions = {
  resource: ResourceInfo
  version: number
  /** Its key below `sync.fromHost`. */
  configKey: 'configMaps' | 'secrets'
  /** What the tenant gets of a host object, besides metadata; `undefined` for one that is no tenant's to see. */
  fields(host: KubeObject): JsonObject | undefined
  /** Fields that the API lets nobody change. */
  immutable?: readonly string[]
}

/**
 * A kind of which single objects of the host, or all of a namespace, appear in the tenant: read only, under the label
 * `causeway.dev/mirror`. An object of that name that the tenant made itself is left alone.
 */
export function mappedData(options: MappedDataOptions): Mirror {
  const { resource, version, configKey } = options
  const byName = (config: TenantConfig) => config.sync.fromHost[configKey].mappings.byName
  return {
    resource,
    version,
    isEnabled: (config) => isEnabled(config, 'fromHost', configKey),
    onlyWhileUsed: false,
    virtualWrites: ['create', 'patch', 'delete'],
    namespacesOf: (tenant) => mappedNamespaces(byName(tenant.config), tenant),
    originalOf: (copy, tenant) => {
      const original = originalOf(byName(tenant.config), copy, tenant)
      return original === undefined ? undefined : { resource: copy.resource, ...original }
    },
    copiesOf: (original, tenant) => {
      const copy = shownAs(byName(tenant.config), original, tenant)
      return copy === undefined ? [] : [{ resource: original.resource, ...copy }]
    },
    decide: (view) =>
      decideData(view, options, originalOf(byName(view.tenant.config), view.key, view.tenant) !== undefined),
  }
}

function decideData(view: View, options: MappedDataOptions, isMapped: boolean): Decision[] {
  const virtual = view.virtual.object
  const fields = fieldsOf(view, options)
  const unwanted = whyUnwanted(view, options, { isMapped, isShown: fields !== undefined })
  if (virtual === undefined) return unwanted === undefined && fields !== undefined ? create(view, options, fields) : []
  const { labels, deletionTimestamp, uid = '' } = virtual.metadata
  if (labels?.[LABELS.mirror] !== 'true' || deletionTimestamp !== undefined) return []
  if (unwanted !== undefined) {
    const { rule, proof } = unwanted
    return proof === undefined ? [] : [write(view, { op: 'delete', uid, proof }, rule)]
  }
  if (fields === undefined) return []
  const body = difference(view, virtual, fields)
  if (body === undefined) return []
  // Whoever made it immutable has made it one that cannot follow its original.
  const isFixed = virtual.immutable === true || options.immutable?.some((field) => Object.hasOwn(body, field)) === true
  return isFixed
    ? [write(view, { op: 'delete', uid, proof: { kind: 'state', seq: view.host.seq } }, 'replace')]
    : [write(view, { op: 'patch', patchType: 'merge', body, uid }, 'mirror')]
}

function whyUnwanted(
  view: View,
  options: MappedDataOptions,
  { isMapped, isShown }: { isMapped: boolean; isShown: boolean },
): { rule: Rule; proof: DeleteProof | undefined } | undefined {
  const { host, virtual, tenant } = view
  const state = (seq: number): DeleteProof | undefined => (seq > 0 ? { kind: 'state', seq } : undefined)
  if (!isEnabled(tenant.config, 'fromHost', options.configKey)) return { rule: 'disabled', proof: state(virtual.seq) }
  if (!isMapped) return { rule: 'unselected', proof: state(virtual.seq) }
  if (host.object === undefined) {
    return { rule: 'mirrorGone', proof: absence(view, options) }
  }
  return isShown ? undefined : { rule: 'unselected', proof: state(host.seq) }
}

/** What proves that the original is not there: its deletion in the log, else a live read. */
function absence(
  { host, tenant, key, related }: View,
  { configKey, resource }: MappedDataOptions,
): DeleteProof | undefined {
  if (host.gone !== undefined) return { kind: 'tombstone', seq: host.gone.seq }
  const original = originalOf(tenant.config.sync.fromHost[configKey].mappings.byName, key, tenant)
  if (original === undefined || !related.synced('host', key.resource)) return undefined
  const counterpart = { tenant: tenant.name, side: 'host' as const, resource: resource.plural, ...original }
  return { kind: 'confirm-absent', counterpart }
}

/** What the tenant gets; nothing of what tenants themselves have on the host. */
function fieldsOf({ host }: View, options: MappedDataOptions): JsonObject | undefined {
  if (host.object === undefined || virtualRefOf(host.object) !== undefined) return undefined
  return cloneJson(options.fields(host.object))
}

function create(view: View, { resource }: MappedDataOptions, fields: JsonObject): Decision[] {
  const { key, related } = view
  const namespace: SidedRef = { side: 'virtual', resource: 'namespaces', namespace: '', name: key.namespace }
  const isMissing = related.virtual(namespace) === undefined && related.synced('virtual', 'namespaces')
  const body: KubeObject = {
    ...fields,
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name: key.name, namespace: key.namespace, ...metadataOf(view) },
  }
  const copy = write(view, { op: 'create', body }, 'mirror', isMissing ? [namespace] : [])
  return isMissing ? [createNamespace(namespace), copy] : [copy]
}

/** The namespace that copies appear in is made when it is not there; what becomes of it then is the tenant's business. */
export function createNamespace(target: SidedRef): Decision {
  const { namespaces } = RESOURCES
  const body = { apiVersion: apiVersionOf(namespaces), kind: namespaces.kind, metadata: { name: target.name } }
  return { kind: 'write', target, write: { op: 'create', body }, rule: 'mirror', needs: [] }
}

/** Fields, labels and annotations are the host's alone: what the tenant changed is changed back. */
function difference(view: View, virtual: KubeObject, wanted: JsonObject): JsonObject | undefined {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, immutable: _immutable, ...current } = virtual
  const { labels, annotations = {} } = metadataOf(view)
  const metadata = presentFields({
    labels: mergePatchOf(stringMap(virtual.metadata.labels), labels),
    annotations: mergePatchOf(mirroredAnnotations(virtual), annotations),
  })
  return presentFields({ ...mergePatchOf(said(current as JsonObject), said(wanted)), metadata })
}

/** An empty map says as much as none. */
function said(fields: JsonObject): JsonObject {
  const isEmpty = (value: unknown): boolean => Object.keys(asObject(value) ?? { some: 1 }).length === 0
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)))
}

function metadataOf({ host }: View): { labels: Record<string, string>; annotations?: Record<string, string> } {
  const annotations = host.object === undefined ? {} : mirroredAnnotations(host.object)
  return {
    labels: { ...(host.object === undefined ? {} : mirroredLabels(host.object)), [LABELS.mirror]: 'true' },
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  }
}

function write(view: View, write: Write, rule: Rule, needs: SidedRef[] = []): Decision {
  return { kind: 'write', target: { side: 'virtual', ...view.key }, write, rule, needs }
}
