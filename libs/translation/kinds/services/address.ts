import { cloneJson, jsonEqual } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import type { Write } from '#libs/events'
import { asName, asObject, presentFields } from '../../json.ts'
import type { PairInput } from '../../kind.ts'
import { ANNOTATIONS } from '../../stamps.ts'
import { leavesAddressOpen, specOf } from './ports.ts'

/** What an API that gives addresses fills in, once and for all. */
export const ADDRESS_FIELDS = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const

/** Finalizers that the API itself sets on deletion. */
const DELETION_FINALIZERS = ['foregroundDeletion', 'orphan']

export function isHeadless(service: KubeObject): boolean {
  return specOf(service).clusterIP === 'None'
}

/** Whether the API of its side gives this Service an address. */
export function hasAddress(service: KubeObject): boolean {
  const spec = specOf(service)
  return spec.type !== 'ExternalName' && !isHeadless(service) && asName(spec.clusterIP) !== undefined
}

/**
 * What the tenant asks for of the address fields. Values that its API filled in by itself are no wish: those that
 * somebody has set stand in the managed fields.
 */
export function wishedAddress(virtual: KubeObject): JsonObject {
  const spec = specOf(virtual)
  if (spec.type === 'ExternalName') return {}
  if (isHeadless(virtual)) return { clusterIP: 'None' }
  const set = setFields(virtual)
  const meant = ADDRESS_FIELDS.filter((field) => set.has(field) && !isEmpty(spec[field]))
  return {
    ...(leavesAddressOpen(virtual) ? wantedFamilies(spec) : {}),
    ...Object.fromEntries(meant.map((field) => [field, cloneJson(spec[field] ?? null)])),
  }
}

/** The address families that the tenant asks for. What every API fills in says nothing about the host's network. */
function wantedFamilies({ ipFamilies, ipFamilyPolicy }: JsonObject): JsonObject {
  const isDefault = [undefined, 'SingleStack'].includes(ipFamilyPolicy as string | undefined)
  if (isDefault && (ipFamilies === undefined || jsonEqual(ipFamilies, ['IPv4']))) return {}
  return cloneJson(presentFields({ ipFamilies, ipFamilyPolicy }) ?? {})
}

/** Whether the tenant asks for another address than its copy has: that takes another copy. */
export function wantsOtherAddress(virtual: KubeObject, host: KubeObject): boolean {
  const wish = asName(wishedAddress(virtual).clusterIP)
  return wish !== undefined && wish !== 'None' && hasAddress(host) && wish !== specOf(host).clusterIP
}

/** Whether both sides have an address and not the same: pods can reach that of the host only. */
export function addressDiffers(virtual: KubeObject, host: KubeObject): boolean {
  return hasAddress(virtual) && hasAddress(host) && !jsonEqual(addressesOf(virtual), addressesOf(host))
}

/** Whether the tenant's API has said before that it cannot have this address of the host. */
export function isRefused(virtual: KubeObject, host: KubeObject): boolean {
  return virtual.metadata.annotations?.[ANNOTATIONS.refusedAddress] === specOf(host).clusterIP
}

/** Makes the tenant's Service anew with the host's address; everything else stays as the tenant has it. */
export function replaceService({ virtual, host }: PairInput): Write {
  const { uid = '', resourceVersion } = virtual.metadata
  return {
    op: 'replace',
    body: bodyWithAddressOf(virtual, host),
    uid,
    copy: { name: host.metadata.name ?? '', uid: host.metadata.uid ?? '' },
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
}

function bodyWithAddressOf(virtual: KubeObject, host: KubeObject): KubeObject {
  const { status: _status, metadata, ...rest } = virtual
  const { labels, annotations = {}, ownerReferences, finalizers = [], name, namespace, generateName } = metadata
  const { [ANNOTATIONS.refusedAddress]: _refused, ...ownAnnotations } = annotations
  const kept = finalizers.filter((finalizer) => !DELETION_FINALIZERS.includes(finalizer))
  const from = specOf(host)
  const spec: JsonObject = { ...cloneJson(specOf(virtual)) }
  for (const field of [...ADDRESS_FIELDS, 'healthCheckNodePort']) {
    if (from[field] !== undefined) spec[field] = cloneJson(from[field])
  }
  return {
    ...rest,
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(generateName === undefined ? {} : { generateName }),
      ...(labels === undefined ? {} : { labels }),
      ...(Object.keys(ownAnnotations).length === 0 ? {} : { annotations: ownAnnotations }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
      ...(kept.length === 0 ? {} : { finalizers: kept }),
    },
    spec,
  }
}

function addressesOf(service: KubeObject): unknown[] {
  const { clusterIP, clusterIPs } = specOf(service)
  return Array.isArray(clusterIPs) && clusterIPs.length > 0 ? clusterIPs : [clusterIP]
}

/** The fields of the spec that some client has set, as the API keeps account of them. */
function setFields({ metadata }: KubeObject): Set<string> {
  const entries = Array.isArray(metadata.managedFields) ? metadata.managedFields : []
  const specs = entries.map((entry) => asObject(asObject(asObject(entry)?.fieldsV1)?.['f:spec']) ?? {})
  return new Set(specs.flatMap((spec) => Object.keys(spec)).map((field) => field.replace(/^f:/, '')))
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}
