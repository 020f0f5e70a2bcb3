import type { Reason, WriteName } from '#libs/events'
import { cloneJson, jsonEqual } from '#libs/kernel'
import { type JsonObject, type KubeObject, type ResourceInfo, apiVersionOf, resourceToken } from '#libs/kube-model'
import type { TenantConfig } from '#libs/sync-config'
import { asObject, presentFields, stringMap } from '../json.ts'
import type { Kind, PairInput, PairWrite, ToHost, TranslateInput } from '../kind.ts'
import {
  type MetadataChanges,
  type OwnsKey,
  compareMetadata,
  hostMetadata,
  metadataBase,
  metadataPatch,
  refOf,
} from '../metadata.ts'
import { hostRefOf } from '../names.ts'
import { contentOf, contentPatch, contentTags, differsForGood } from '../owned-fields.ts'
import { patchHost, patchVirtual } from '../patches.ts'
import { type SharedStatus, statusBase, statusLoop, statusWrites } from '../shared-status.ts'
import type { Stamps } from '../stamps.ts'
import { type Merge, overruledIn, tagsOf, threeWay } from '../three-way.ts'
import type { TenantContext } from '../view.ts'

/** What the host copy of an object holds besides metadata and status, or why there cannot be one. */
export type Content =
  | { kind: 'content'; fields: JsonObject; extra?: Partial<Stamps> }
  | { kind: 'reject'; reason: Reason; message: string }

export type OwnedKindOptions = Partial<
  Pick<
    Kind,
    | 'references'
    | 'reads'
    | 'requiredReferences'
    | 'excluded'
    | 'refersTo'
    | 'followsReferences'
    | 'isDerived'
    | 'endsWithOriginal'
  >
> & {
  resource: ResourceInfo
  version: number
  isEnabled(config: TenantConfig): boolean
  /** The copy's content, with `extra` metadata for the keys that the kind owns. @default what the tenant's object holds */
  content?(input: TranslateInput & Partial<Pick<PairInput, 'host'>>): Content
  /** Labels and annotations whose value on the host `content` gives. @default none */
  ownsKey?(key: string, tenant: TenantContext): boolean
  /** Keys of labels that the configuration adds to the copy: the base keeps them, so that one that it adds no more goes. */
  addedKeys?(tenant: TenantContext): readonly string[]
  /** Fields that the API lets nobody change, as `addressType`: the copy is deleted and made again. */
  immutable?: readonly string[]
  /** Fields of the object that are the host's own on the copy. @default none */
  hostFields?: readonly string[]
  /** Text fields of `spec` that either side may set. */
  twoWay?: readonly string[]
  /** The status that the tenant's object is to have; `undefined` to leave it. @default it is left */
  status?(input: PairInput): JsonObject | undefined
  /** Whether two statuses say the same. @default whether they are equal */
  saysSame?(desired: JsonObject, current: JsonObject): boolean
  /** What becomes of a copy whose original can no longer cross as it is. @default it stays as it is */
  whenRejected?: 'keep' | 'delete'
}

/**
 * A kind whose content is the tenant's: it goes to the host, and nothing but labels, annotations, single fields and the
 * status comes back. What the host's API fills in on the copy stays there.
 */
export function ownedKind(options: OwnedKindOptions): Kind {
  const { resource, version, reads, refersTo, followsReferences } = options
  const virtualWrites: WriteName[] = options.status === undefined ? ['patch'] : ['patch', 'patch/status']
  return {
    resource,
    version,
    isEnabled: (config) => options.isEnabled(config),
    virtualWrites,
    lifecycle: 'plain',
    onlyWhileUsed: false,
    ...(reads === undefined ? {} : { reads }),
    ...(refersTo === undefined ? {} : { refersTo }),
    ...(followsReferences === undefined ? {} : { followsReferences }),
    ...(options.isDerived === undefined ? {} : { isDerived: (input) => options.isDerived?.(input) ?? false }),
    ...(options.endsWithOriginal === undefined ? {} : { endsWithOriginal: options.endsWithOriginal }),
    references: (pair) => options.references?.(pair) ?? [],
    requiredReferences: (virtual, tenant) => options.requiredReferences?.(virtual, tenant) ?? [],
    excluded: (virtual, related) => options.excluded?.(virtual, related) ?? false,
    toHost: (input) => toHost(input, options),
    reconcile: (input) => reconcile(input, options),
    disagreement: (input) => {
      const content = translated(input, options)
      if (content.kind === 'reject') return { reason: content.reason, message: content.message }
      const status = statusOf(input, options)
      return status === undefined ? undefined : statusLoop(input, status)
    },
  }
}

function translated(input: TranslateInput & Partial<Pick<PairInput, 'host'>>, options: OwnedKindOptions): Content {
  if (options.content !== undefined) return options.content(input)
  return { kind: 'content', fields: cloneJson(contentOf(input.virtual)) }
}

function toHost(input: TranslateInput, options: OwnedKindOptions): ToHost {
  const { virtual, tenant } = input
  const { resource } = options
  const content = translated(input, options)
  if (content.kind === 'reject') return content
  const { fields, extra } = content
  const given = { tenant, ...(extra === undefined ? {} : { extra }), ...ownsOf(options, tenant) }
  const twoWay = twoWayFields(virtual, options)
  const spec = options.twoWay === undefined ? fields.spec : { ...asObject(fields.spec), ...twoWay }
  return {
    kind: 'object',
    object: {
      ...fields,
      ...(spec === undefined ? {} : { spec }),
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      metadata: hostMetadata(refOf(virtual, resourceToken(resource)), virtual, given),
    },
    base: {
      ...metadataBase(virtual, ownsOf(options, tenant).owns),
      ...addedBase(options, tenant),
      content: contentTags(withoutTwoWay(fields, options)),
      twoWay: tagsOf(twoWay),
    },
  }
}

function reconcile(input: PairInput, options: OwnedKindOptions): PairWrite[] {
  const content = translated(input, options)
  if (content.kind === 'reject') return options.whenRejected === 'delete' ? [remove(input, 'rejected')] : []
  const fields = withoutTwoWay(content.fields, options)
  const crossed = asObject(input.base?.content)
  const sides = { wanted: fields, current: input.host, crossed }
  if (options.immutable?.some((path) => differsForGood(path, sides)) === true) {
    return [remove(input, 'update')]
  }
  const writes = contentWrites(input, options, { fields, extra: content.extra })
  const status = statusOf(input, options)
  return status === undefined ? writes : [...writes, ...statusWrites(input, status)]
}

function statusOf(input: PairInput, options: OwnedKindOptions): SharedStatus | undefined {
  const desired = options.status?.(input)
  if (desired === undefined) return undefined
  const saysSame: SharedStatus['saysSame'] = (wanted, current) =>
    options.saysSame?.(wanted, current) ?? jsonEqual(wanted, current)
  return { desired, saysSame }
}

function contentWrites(
  input: PairInput,
  options: OwnedKindOptions,
  content: { fields: JsonObject; extra: Partial<Stamps> | undefined },
): PairWrite[] {
  const { virtual, host, base, tenant } = input
  const { fields, extra } = content
  const ref = refOf(virtual, resourceToken(options.resource))
  const owns = ownsOf(options, tenant, input)
  const given = { ref, tenant, ...(extra === undefined ? {} : { extra }), ...owns }
  const metadata: MetadataChanges = compareMetadata({ virtual, host, base }, given)
  const merge: Merge = threeWay(asObject(base?.twoWay), {
    virtual: twoWayFields(virtual, options),
    host: twoWayFields(host, options),
  })
  const tags = contentTags(fields)
  const kept = { ...statusBase(base), ...addedBase(options, tenant) }
  const isOwned = (field: string): boolean =>
    ![...(options.twoWay ?? []), ...(options.hostFields ?? [])].includes(field)
  const patch = contentPatch(host, fields, { crossed: asObject(base?.content), owns: isOwned })
  const toHostBody = bodyOf(patch, merge.toHost, metadataPatch(metadata.host))
  if (toHostBody !== undefined) {
    const after = { ...metadata.baseAfterHost, ...kept, content: tags, twoWay: merge.baseAfterHost }
    // What the object has come to refer to is to be there before.
    const references = options.references?.({ virtual }) ?? []
    const needs = references.map((of) => ({ side: 'host' as const, ...hostRefOf(of, tenant) }))
    const overruled = [...metadata.overruled, ...overruledIn('spec', merge, asObject(base?.twoWay))]
    const write = patchHost(host, toHostBody, { rule: 'update', base: after, overruled })
    return [needs.length === 0 ? write : { ...write, needs }]
  }
  const toVirtualBody = bodyOf(undefined, merge.toVirtual, metadataPatch(metadata.virtual))
  if (toVirtualBody === undefined) return []
  const after = { ...metadata.baseAfterVirtual, ...kept, content: tags, twoWay: merge.baseAfterVirtual }
  return [patchVirtual(virtual, toVirtualBody, { rule: 'fieldsBack', base: after })]
}

function bodyOf(
  content: JsonObject | undefined,
  twoWay: Record<string, string | null>,
  metadata: JsonObject | undefined,
): JsonObject | undefined {
  const spec = { ...asObject(content?.spec), ...twoWay }
  return presentFields({ ...content, metadata, spec: Object.keys(spec).length === 0 ? undefined : spec })
}

function remove({ host, seq }: PairInput, rule: 'update' | 'rejected'): PairWrite {
  const proof = { kind: 'state' as const, seq: seq.virtual }
  return { side: 'host', rule, write: { op: 'delete', uid: host.metadata.uid ?? '', proof } }
}

/** @param pair tells which keys the configuration has added and adds no more, while the copy has them */
function ownsOf(
  options: OwnedKindOptions,
  tenant: TenantContext,
  pair?: Pick<PairInput, 'host' | 'base'>,
): { owns?: OwnsKey } {
  if (options.ownsKey === undefined) return {}
  const added = Object.keys(asObject(pair?.base?.added) ?? {}).filter((key) => pair?.host.metadata.labels?.[key])
  return { owns: (key) => added.includes(key) || (options.ownsKey?.(key, tenant) ?? false) }
}

function addedBase(options: OwnedKindOptions, tenant: TenantContext): JsonObject {
  const added = options.addedKeys?.(tenant)
  return added === undefined ? {} : { added: Object.fromEntries(added.map((key) => [key, true])) }
}

function twoWayFields(object: KubeObject, { twoWay = [] }: OwnedKindOptions): Record<string, string> {
  return Object.fromEntries(Object.entries(stringMap(object.spec)).filter(([field]) => twoWay.includes(field)))
}

function withoutTwoWay(fields: JsonObject, { twoWay }: OwnedKindOptions): JsonObject {
  const spec = asObject(fields.spec)
  if (twoWay === undefined || spec === undefined) return fields
  return { ...fields, spec: Object.fromEntries(Object.entries(spec).filter(([field]) => !twoWay.includes(field))) }
}
