import { cloneJson, jsonEqual } from '#libs/kernel'
import { type JsonObject, type KubeObject, type ResourceInfo, apiVersionOf, resourceToken } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { asObject, stringMap } from '../json.ts'
import type { Kind, PairInput, PairWrite } from '../kind.ts'
import { compareMetadata, hostMetadata, metadataBase, metadataPatch, refOf } from '../metadata.ts'
import { contentOf, fieldTags, ownedFieldsPatch } from '../owned-fields.ts'
import { patchHost, patchVirtual } from '../patches.ts'
import { type Merge, type Tag, overruledIn, tagsOf, threeWay } from '../three-way.ts'

const KNOWN: ReadonlySet<string> = new Set(['data', 'binaryData', 'stringData', 'type', 'immutable'])

/** What sets one kind of keyed data apart from another. */
export type KeyedDataOptions = {
  resource: ResourceInfo
  version: number
  /** Its key below `sync.toHost`. */
  configKey: 'configMaps' | 'secrets'
  /** The fields that hold data by key. */
  fields: readonly ('data' | 'binaryData')[]
  /** How values are kept in a base. */
  tag: Tag
  /** The type on the host, for kinds that have one. It cannot be changed there, only made anew. */
  hostType?: (virtual: KubeObject) => string
}

/**
 * A kind that is data by key, ConfigMap or Secret: it crosses while something that crosses refers to it, and its data
 * merges key by key in both directions.
 */
export function keyedDataKind(options: KeyedDataOptions): Kind {
  const { resource, fields, tag, hostType } = options
  return {
    resource,
    version: options.version,
    isEnabled: (config) => isEnabled(config, 'toHost', options.configKey),
    virtualWrites: ['patch'],
    lifecycle: 'plain',
    onlyWhileUsed: true,
    crossesUnused: (config) => config.sync.toHost[options.configKey].all,
    references: () => [],
    requiredReferences: () => [],
    excluded: () => false,
    toHost({ virtual, tenant }) {
      const object: KubeObject = {
        apiVersion: apiVersionOf(resource),
        kind: resource.kind,
        metadata: hostMetadata(refOf(virtual, resourceToken(resource)), virtual, { tenant }),
      }
      for (const field of fields) if (asObject(virtual[field])) object[field] = cloneJson(virtual[field])
      if (hostType !== undefined) object.type = hostType(virtual)
      if (virtual.immutable === true) object.immutable = true
      const further = furtherFields(virtual)
      Object.assign(object, cloneJson(further))
      const base: JsonObject = { ...metadataBase(virtual), ...furtherBase(further) }
      for (const field of fields) base[field] = tagsOf(stringMap(virtual[field]), tag)
      return { kind: 'object', object, base }
    },
    reconcile: (input) => reconcile(input, options),
  }
}

function reconcile(input: PairInput, { resource, fields, tag, hostType }: KeyedDataOptions): PairWrite[] {
  const { virtual, host, base, tenant } = input
  const metadata = compareMetadata({ virtual, host, base }, { ref: refOf(virtual, resourceToken(resource)), tenant })
  const merges = new Map<string, Merge>(
    fields.map((field) => {
      const sides = { virtual: stringMap(virtual[field]), host: stringMap(host[field]) }
      // An immutable object takes no change from the host: measured against the host's own data, none has happened.
      const agreed = virtual.immutable === true ? tagsOf(sides.host, tag) : asObject(base?.[field])
      return [field, threeWay(agreed, sides, tag)]
    }),
  )

  const hostBody = body(metadata.host, merges, 'toHost')
  if (mustBeMadeAnew(hostBody, input, hostType)) {
    // The API would refuse the change; once the copy is gone it is made again from what the tenant has now.
    const proof = { kind: 'state' as const, seq: input.seq.virtual }
    return [{ side: 'host', rule: 'update', write: { op: 'delete', uid: host.metadata.uid ?? '', proof } }]
  }
  if (virtual.immutable === true && host.immutable !== true) hostBody.immutable = true
  const further = furtherFields(virtual)
  const crossed = asObject(base?.further) ?? {}
  Object.assign(hostBody, ownedFieldsPatch(furtherFields(host), further, { crossed }))
  if (Object.keys(hostBody).length > 0) {
    const after = baseAfter({ ...metadata.baseAfterHost, ...furtherBase(further) }, merges, 'baseAfterHost')
    const overruled = [...merges].flatMap(([field, merge]) => overruledIn(field, merge, asObject(base?.[field])))
    const given = { rule: 'update', base: after, overruled: [...metadata.overruled, ...overruled] } as const
    return [patchHost(host, hostBody, given)]
  }
  const virtualBody = body(metadata.virtual, merges, 'toVirtual')
  if (Object.keys(virtualBody).length === 0) return []
  const after = baseAfter({ ...metadata.baseAfterVirtual, ...furtherBase(further) }, merges, 'baseAfterVirtual')
  return [patchVirtual(virtual, virtualBody, { rule: 'fieldsBack', base: after })]
}

/** Fields that nobody knows: they are the tenant's. */
function furtherFields(object: KubeObject): JsonObject {
  return Object.fromEntries(Object.entries(contentOf(object)).filter(([field]) => !KNOWN.has(field)))
}

function furtherBase(further: JsonObject): JsonObject {
  return Object.keys(further).length === 0 ? {} : { further: fieldTags(further) }
}

function body(
  metadata: Parameters<typeof metadataPatch>[0],
  merges: Map<string, Merge>,
  direction: 'toHost' | 'toVirtual',
): JsonObject {
  const patch: JsonObject = {}
  const part = metadataPatch(metadata)
  if (part !== undefined) patch.metadata = part
  for (const [field, merge] of merges) if (Object.keys(merge[direction]).length > 0) patch[field] = merge[direction]
  return patch
}

function baseAfter(
  metadata: JsonObject,
  merges: Map<string, Merge>,
  which: 'baseAfterHost' | 'baseAfterVirtual',
): JsonObject {
  const base = { ...metadata }
  for (const [field, merge] of merges) base[field] = merge[which]
  return base
}

function mustBeMadeAnew(
  patch: JsonObject,
  { virtual, host }: PairInput,
  hostType: KeyedDataOptions['hostType'],
): boolean {
  if (hostType !== undefined && !jsonEqual(host.type, hostType(virtual))) return true
  if (host.immutable !== true) return false
  return virtual.immutable !== true || patch.data !== undefined || patch.binaryData !== undefined
}
