import type { Reason } from '#libs/events'
import { jsonEqual } from '#libs/kernel'
import type { Json, JsonObject, KubeObject } from '#libs/kube-model'
import { asName, asObject, presentFields } from '../../json.ts'
import type { PairInput, PairWrite } from '../../kind.ts'
import { mergePatchOf } from '../../merge-patch.ts'
import { type MetadataChanges, compareMetadata, metadataPatch, refOf } from '../../metadata.ts'
import { patchHost, patchVirtual } from '../../patches.ts'
import { finishReplacement, replacementOn } from '../../replacement.ts'
import { type SharedStatus, statusBase, statusLoop, statusWrites } from '../../shared-status.ts'
import { ANNOTATIONS } from '../../stamps.ts'
import {
  ADDRESS_FIELDS,
  addressDiffers,
  hasAddress,
  isHeadless,
  isRefused,
  replaceService,
  wantsOtherAddress,
} from './address.ts'
import { hasNodePorts, mergeNodePorts, nodePortsOf, specOf, withNodePorts } from './ports.ts'
import { fieldTags, ownedFields } from './translate.ts'

/** The writes that bring a Service and its copy to agree. */
export function reconcileService(input: PairInput): PairWrite[] {
  const { virtual, host, base, tenant } = input
  if (mustBeMadeAnew(virtual, host)) {
    const proof = { kind: 'state' as const, seq: input.seq.virtual }
    const { uid = '', resourceVersion } = host.metadata
    const seen = resourceVersion === undefined ? {} : { resourceVersion }
    return [{ side: 'host', rule: 'update', write: { op: 'delete', uid, ...seen, proof } }]
  }
  const metadata = compareMetadata({ virtual, host, base }, { ref: refOf(virtual, 'services'), tenant })
  const nodePorts = mergeNodePorts(input)
  const owned = ownedFields(virtual, tenant)
  const replaces = addressDiffers(virtual, host) && !isRefused(virtual, host)
  const writes: PairWrite[] = replaces ? [] : abandoned(input)

  const toHost = metadataPatch(withoutOldReplacement(metadata.host, { virtual, host }))
  const spec = specPatch(input, owned, nodePorts.toHost)
  if (toHost !== undefined || spec !== undefined) {
    const after = {
      ...metadata.baseAfterHost,
      ...statusBase(base),
      spec: fieldTags(owned),
      nodePorts: nodePorts.baseAfterHost,
    }
    const given = { rule: 'update', base: after, overruled: metadata.overruled } as const
    writes.push(patchHost(host, presentFields({ metadata: toHost, spec }) ?? {}, given))
  } else if (replaces) {
    return [{ side: 'virtual', rule: 'replace', write: replaceService(input) }]
  } else {
    const back = fieldsBack(virtual, host, nodePorts.toVirtual)
    const toVirtual = metadataPatch(metadata.virtual)
    const body = presentFields({ metadata: versioned(toVirtual, back, virtual), spec: back })
    if (body !== undefined) {
      const after = {
        ...metadata.baseAfterVirtual,
        ...statusBase(base),
        spec: base?.spec ?? fieldTags(owned),
        nodePorts: nodePorts.baseAfterVirtual,
      }
      writes.push(patchVirtual(virtual, body, { rule: 'fieldsBack', base: after }))
    }
  }
  return [...writes, ...statusWrites(input, statusOf(input))]
}

/** Why the two sides of a Service keep different addresses. */
export function serviceDisagreement(input: PairInput): { reason: Reason; message: string } | undefined {
  const { virtual, host } = input
  if (!addressDiffers(virtual, host) || !isRefused(virtual, host)) return statusLoop(input, statusOf(input))
  const message = `the API of this cluster does not accept the address ${asName(specOf(host).clusterIP) ?? ''}; make the Service anew once it can`
  return { reason: 'Unsupported', message }
}

/** Neither an address nor having one can be changed; the tenant made another Service of this name. */
function mustBeMadeAnew(virtual: KubeObject, host: KubeObject): boolean {
  const hasNone = [virtual, host].some((service) => specOf(service).type === 'ExternalName')
  return !hasNone && (isHeadless(virtual) !== isHeadless(host) || wantsOtherAddress(virtual, host))
}

/** Takes the note of a replacement off the copy once another object has come in the place of the one that went. */
function withoutOldReplacement(
  changes: MetadataChanges['host'],
  { virtual, host }: { virtual: KubeObject; host: KubeObject },
): MetadataChanges['host'] {
  const isNoted = host.metadata.annotations?.[ANNOTATIONS.replacement] !== undefined
  if (!isNoted || replacementOn(host)?.uid === virtual.metadata.uid) return changes
  return { ...changes, annotations: { ...changes.annotations, [ANNOTATIONS.replacement]: null } }
}

/** A replacement that is not wanted any more although its object is still there, as far as we know. */
function abandoned({ virtual, host }: PairInput): PairWrite[] {
  const replacement = replacementOn(host)
  if (replacement === undefined || replacement.uid !== virtual.metadata.uid) return []
  return [{ side: 'virtual', rule: 'replace', write: finishReplacement(replacement, host) }]
}

/**
 * What of the copy's spec is to change. A field counts as changed when the host lacks what the tenant says, or when
 * the tenant says something else than last time; what the host's API filled in besides stays.
 */
function specPatch(
  input: PairInput,
  owned: JsonObject,
  nodePorts: Record<string, string | null>,
): JsonObject | undefined {
  const { host, base, virtual } = input
  const current = specOf(host)
  const crossed = asObject(base?.spec)
  const tags = fieldTags(owned)
  const patch: JsonObject = {}
  for (const [field, wanted] of Object.entries(owned)) {
    if (field === 'selector') continue
    const isNew = crossed !== undefined && crossed[field] !== tags[field]
    if (isNew || !covers(current[field], wanted)) patch[field] = wanted
  }
  for (const field of Object.keys(crossed ?? {})) {
    if (owned[field] === undefined && current[field] !== undefined && field !== 'selector') patch[field] = null
  }
  const selector = selectorPatch(current.selector, owned.selector)
  if (selector !== undefined) patch.selector = selector
  if (patch.ports !== undefined || patch.type !== undefined || Object.keys(nodePorts).length > 0) {
    // A patch replaces the list of ports: those that the host has allocated go along, or it would allocate anew.
    const kept = hasNodePorts(specOf(virtual)) ? { ...nodePortsOf(host), ...nodePorts } : {}
    if (owned.ports !== undefined) patch.ports = withNodePorts(owned.ports, kept)
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}

function selectorPatch(current: Json | undefined, wanted: Json | undefined): Json | undefined {
  const from = asObject(current)
  const to = asObject(wanted)
  if (to === undefined) return from === undefined ? undefined : null
  return mergePatchOf(from ?? {}, to)
}

/** What the host has given the Service and the tenant does not have yet. */
function fieldsBack(
  virtual: KubeObject,
  host: KubeObject,
  nodePorts: Record<string, string | null>,
): JsonObject | undefined {
  const from = specOf(host)
  const to = specOf(virtual)
  const patch: JsonObject = {}
  if (hasAddress(host) && asName(to.clusterIP) === undefined && to.type !== 'ExternalName' && !isHeadless(virtual)) {
    for (const field of ADDRESS_FIELDS) {
      const value = from[field]
      if (value !== undefined && !jsonEqual(to[field], value)) patch[field] = value
    }
  }
  if (from.healthCheckNodePort && !to.healthCheckNodePort) patch.healthCheckNodePort = from.healthCheckNodePort
  if (Object.keys(nodePorts).length > 0)
    patch.ports = withNodePorts(to.ports, { ...nodePortsOf(virtual), ...nodePorts })
  return Object.keys(patch).length === 0 ? undefined : patch
}

/** A patch of the whole list of ports holds for the state it was made from only: another one must not be lost. */
function versioned(metadata: JsonObject | undefined, spec: JsonObject | undefined, virtual: KubeObject) {
  const resourceVersion = virtual.metadata.resourceVersion
  return spec?.ports === undefined || resourceVersion === undefined ? metadata : { ...metadata, resourceVersion }
}

/** Load balancer addresses and conditions. An empty load balancer says as much as none. */
function statusOf({ virtual, host }: PairInput): SharedStatus {
  return { desired: said(host.status), current: said(virtual.status) }
}

function said(status: unknown): JsonObject {
  const { loadBalancer, ...rest } = asObject(status) ?? {}
  const balancer = asObject(loadBalancer)
  return balancer === undefined || Object.keys(balancer).length === 0 ? rest : { ...rest, loadBalancer: balancer }
}

/** Whether `actual` says all that `wanted` says; what it says besides are the API's defaults. Empty says nothing. */
function covers(actual: Json | undefined, wanted: Json): boolean {
  if (actual === undefined && isEmpty(wanted)) return true
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(actual) && actual.length === wanted.length && wanted.every((item, at) => covers(actual[at], item))
    )
  }
  const fields = asObject(wanted)
  if (fields === undefined) return jsonEqual(actual, wanted)
  const present = asObject(actual)
  return present !== undefined && Object.entries(fields).every(([key, value]) => covers(present[key], value))
}

function isEmpty(value: Json): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
}
