import type { DeleteProof, WriteName } from '#libs/events'
import { cloneJson } from '#libs/kernel'
import { type JsonObject, type KubeObject, type ResourceInfo, apiVersionOf } from '#libs/kube-model'
import type { SelectorConfig, TenantConfig } from '#libs/sync-config'
import type { Decision, Rule } from '../decision.ts'
import { asObject, presentFields, stringMap } from '../json.ts'
import type { Mirror, PairWrite } from '../kind.ts'
import { matchesSelector } from '../match-selector.ts'
import { mergePatchOf } from '../merge-patch.ts'
import { mirroredAnnotations, mirroredLabels } from '../metadata.ts'
import { contentOf, contentPatch, contentTags, differsForGood } from '../owned-fields.ts'
import { statusBase, statusWrites } from '../shared-status.ts'
import { LABELS, virtualRefOf } from '../stamps.ts'
import type { View } from '../view.ts'

export type ClassMirrorOptions = {
  resource: ResourceInfo
  version: number
  isEnabled(config: TenantConfig): boolean
  /** Which of the host's objects the tenant sees. @default all */
  selector?(config: TenantConfig): SelectorConfig
  /** What objects of the kind call it, where that is not in `resource`. */
  names?: { apiVersion: string; kind: string }
  /** Whether anything on the host is shown under the key at all. @default true */
  isMapped?: boolean
  /** Whether nothing but the deletion of the original, as it was seen, proves that it is gone. @default a live read, too */
  needsTombstone?: boolean
  /** Whether the tenant is to see this one, given what else there is. @default true */
  isWanted?(view: View): boolean
  /** What the tenant sees of a host object, besides metadata and status. @default every field */
  fields?(host: KubeObject): JsonObject
  /** Fields that the API lets nobody change, as `provisioner` or `spec.controller`: the copy is made anew. */
  immutable?: readonly string[]
  /** Whether the status is shown as well: as a subresource, or as a field like any other. @default false */
  status?: boolean | 'field'
  /** Resource whose objects in the tenant decide about copies of the same name, see `Mirror.follows`. */
  follows?: string
}

/**
 * A kind of cluster-scoped objects of the host that the tenant sees as they are: classes and the like. Copies carry the
 * label `causeway.dev/mirror`; an object of the same name that the tenant made itself is left alone.
 */
export function classMirror(options: ClassMirrorOptions): Mirror {
  const { resource, version, follows } = options
  const virtualWrites: WriteName[] = ['create', 'patch', 'delete']
  if (options.status === true) virtualWrites.push('patch/status')
  return {
    resource,
    version,
    isEnabled: (config) => options.isEnabled(config),
    onlyWhileUsed: false,
    virtualWrites,
    ...(follows === undefined ? {} : { follows }),
    decide: (view) => decideClass(view, options),
  }
}

/** Decides about one copy of a class. */
export function decideClass(view: View, options: ClassMirrorOptions): Decision[] {
  const virtual = view.virtual.object
  const unwanted = whyUnwanted(view, options)
  if (virtual === undefined) return unwanted === undefined ? [create(view, options)] : []
  if (virtual.metadata.labels?.[LABELS.mirror] !== 'true' || virtual.metadata.deletionTimestamp !== undefined) return []
  if (unwanted === undefined) return update(view, virtual, options)
  return unwanted.proof === undefined ? [] : [remove(view, virtual, { rule: unwanted.rule, proof: unwanted.proof })]
}

/** Why the tenant is to have no copy, and what proves it. Without proof, one that is there stays. */
function whyUnwanted(
  view: View,
  options: ClassMirrorOptions,
): { rule: Rule; proof: DeleteProof | undefined } | undefined {
  const { tenant, host, virtual, key, related } = view
  const state = (seq: number): DeleteProof | undefined => (seq > 0 ? { kind: 'state', seq } : undefined)
  if (!options.isEnabled(tenant.config)) return { rule: 'disabled', proof: state(virtual.seq) }
  if (options.isMapped === false) return { rule: 'unselected', proof: state(virtual.seq) }
  if (host.object === undefined) {
    if (host.gone !== undefined) return { rule: 'mirrorGone', proof: { kind: 'tombstone', seq: host.gone.seq } }
    const counterpart = { tenant: tenant.name, side: 'host' as const, ...key }
    const isKnown = options.needsTombstone !== true && related.synced('host', key.resource)
    return { rule: 'mirrorGone', proof: isKnown ? { kind: 'confirm-absent', counterpart } : undefined }
  }
  // What another tenant has on the host is nobody else's to see.
  if (virtualRefOf(host.object) !== undefined) return { rule: 'unselected', proof: state(host.seq) }
  const selector = options.selector?.(tenant.config)
  const isSelected = selector === undefined || matchesSelector(stringMap(host.object.metadata.labels), selector)
  if (!isSelected) return { rule: 'unselected', proof: state(host.seq) }
  return options.isWanted?.(view) === false ? { rule: 'mirrorUnused', proof: state(virtual.seq) } : undefined
}

function create(view: View, options: ClassMirrorOptions): Decision {
  const fields = fieldsOf(view, options)
  const { name, namespace } = view.key
  const body: KubeObject = {
    ...fields,
    apiVersion: options.names?.apiVersion ?? apiVersionOf(options.resource),
    kind: options.names?.kind ?? options.resource.kind,
    metadata: { name, ...(namespace === '' ? {} : { namespace }), ...metadataOf(view) },
  }
  return write(view, { write: { op: 'create', body }, rule: 'mirror', base: { fields: contentTags(fields) } })
}

function update(view: View, virtual: KubeObject, options: ClassMirrorOptions): Decision[] {
  const wanted = fieldsOf(view, options)
  const sides = { wanted, current: virtual, crossed: asObject(view.base?.fields) }
  if (options.immutable?.some((path) => differsForGood(path, sides)) === true) {
    return [remove(view, virtual, { rule: 'replace', proof: { kind: 'state', seq: view.host.seq } })]
  }
  const decisions: Decision[] = []
  const uid = virtual.metadata.uid ?? ''
  const content = contentPatch(virtual, wanted, { crossed: asObject(view.base?.fields) })
  const body = presentFields({ ...content, metadata: metadataPatch(view, virtual) })
  if (body !== undefined) {
    const base = { ...statusBase(view.base), fields: contentTags(wanted) }
    decisions.push(write(view, { write: { op: 'patch', patchType: 'merge', body, uid }, rule: 'mirror', base }))
  }
  if (options.status === undefined || options.status === false) return decisions
  const desired = cloneJson(asObject(view.host.object?.status) ?? {})
  const shown = statusWrites({ virtual, ...(view.base === undefined ? {} : { base: view.base }) }, { desired })
  return [...decisions, ...shown.map((change) => write(view, options.status === 'field' ? asField(change) : change))]
}

/** A patch of the status where that is a field like any other. */
function asField({ write: patch, ...rest }: PairWrite): PairWrite {
  if (patch.op !== 'patch') return { write: patch, ...rest }
  const { subresource: _subresource, ...whole } = patch
  return { write: whole, ...rest }
}

function fieldsOf(view: View, options: ClassMirrorOptions): JsonObject {
  const host = view.host.object
  if (host === undefined) return {}
  return cloneJson(options.fields === undefined ? contentOf(host) : options.fields(host))
}

function metadataOf(view: View): { labels: Record<string, string>; annotations?: Record<string, string> } {
  const host = view.host.object
  const annotations = host === undefined ? {} : mirroredAnnotations(host)
  return {
    labels: { ...(host === undefined ? {} : mirroredLabels(host)), [LABELS.mirror]: 'true' },
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  }
}

/** Labels and annotations are the host's alone: what the tenant changed is changed back. */
function metadataPatch(view: View, virtual: KubeObject): JsonObject | undefined {
  const wanted = metadataOf(view)
  const labels = mergePatchOf(stringMap(virtual.metadata.labels), wanted.labels)
  const annotations = mergePatchOf(mirroredAnnotations(virtual), wanted.annotations ?? {})
  return presentFields({ labels, annotations })
}

function remove(view: View, virtual: KubeObject, why: { rule: Rule; proof: DeleteProof }): Decision {
  return write(view, { write: { op: 'delete', uid: virtual.metadata.uid ?? '', proof: why.proof }, rule: why.rule })
}

function write(view: View, { write: made, rule, base }: Omit<PairWrite, 'side'>): Decision {
  const target = { side: 'virtual' as const, ...view.key }
  return { kind: 'write', target, needs: [], write: made, rule, ...(base === undefined ? {} : { base }) }
}
