import { jsonEqual } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asName, asObject, objectsIn, textOf } from '../../json.ts'
import type { PairInput, PairWrite } from '../../kind.ts'
import { compareMetadata, metadataPatch, refOf } from '../../metadata.ts'
import { patchHost, patchVirtual } from '../../patches.ts'
import { specOf, statusOf } from './fields.ts'
import { readinessGates, statusBack } from './status.ts'
import { gatesOf, podStamps, specBase } from './translate.ts'

/** The writes that bring a pod and its copy to agree. */
export function reconcilePod(input: PairInput): PairWrite[] {
  const { virtual, host } = input
  const terminating = virtual.metadata.deletionTimestamp !== undefined
  const node = asName(specOf(host).nodeName)
  const boundTo = asName(specOf(virtual).nodeName)
  if (!terminating && node !== undefined && boundTo !== undefined && node !== boundTo) return [replaceMoved(input)]
  const writes = terminating ? [] : metadataAndSpec(input)
  if (!terminating && node !== undefined && boundTo === undefined) writes.push(bind(virtual, node))
  const status = statusBack(virtual, host)
  if (status !== undefined) {
    writes.push(
      patchVirtual(
        virtual,
        { status: { $patch: 'replace', ...status } },
        {
          rule: 'statusBack',
          patchType: 'strategic',
          subresource: 'status',
        },
      ),
    )
  }
  return [...writes, ...gateConditions(virtual, host)]
}

function bind(virtual: KubeObject, node: string): PairWrite {
  return {
    side: 'virtual',
    rule: 'bind',
    write: { op: 'bind', node, uid: virtual.metadata.uid ?? '' },
    needs: [{ side: 'virtual', resource: 'nodes', namespace: '', name: node }],
  }
}

/** A pod cannot move: where its copy runs elsewhere, the tenant's pod makes room for a new one, as on a reschedule. */
function replaceMoved({ virtual, seq }: PairInput): PairWrite {
  const proof = { kind: 'state' as const, seq: seq.host }
  return { side: 'virtual', rule: 'moved', write: { op: 'delete', uid: virtual.metadata.uid ?? '', proof } }
}

function metadataAndSpec(input: PairInput): PairWrite[] {
  const { virtual, host, base, tenant } = input
  const options = { ref: refOf(virtual, 'pods'), tenant, extra: podStamps(input) }
  const changes = compareMetadata({ virtual, host, base }, options)
  const toHost = metadataPatch(changes.host)
  const spec = specPatch(input)
  if (toHost !== undefined || spec !== undefined) {
    const body = { ...(toHost === undefined ? {} : { metadata: toHost }), ...(spec === undefined ? {} : { spec }) }
    const after = { ...changes.baseAfterHost, ...specBase(virtual) }
    return [patchHost(host, body, { rule: 'update', patchType: 'strategic', base: after })]
  }
  const toVirtual = metadataPatch(changes.virtual)
  if (toVirtual === undefined) return []
  const after = { ...changes.baseAfterVirtual, ...specBase(virtual) }
  return [patchVirtual(virtual, { metadata: toVirtual }, { rule: 'fieldsBack', base: after })]
}

/** The few fields of a pod's spec that the API lets change, as a strategic merge patch. */
function specPatch(input: PairInput): JsonObject | undefined {
  const from = specOf(input.virtual)
  const to = specOf(input.host)
  const patch: JsonObject = {}
  for (const list of ['containers', 'initContainers']) {
    const images = changedImages(from[list], to[list], asObject(input.base?.images))
    if (images.length > 0) patch[list] = images
  }
  const deadline = from.activeDeadlineSeconds
  if (deadline !== undefined && deadline !== to.activeDeadlineSeconds) patch.activeDeadlineSeconds = deadline
  const missing = objectsIn(from.tolerations).filter(
    (wanted) => !objectsIn(to.tolerations).some((present) => jsonEqual(present, wanted)),
  )
  // Tolerations can only be added: those that the host has of its own stay.
  if (missing.length > 0) patch.tolerations = [...objectsIn(to.tolerations), ...missing]
  const lifted = liftedGates(input)
  if (lifted.length > 0) patch.schedulingGates = lifted.map((name) => ({ $patch: 'delete', name }))
  return Object.keys(patch).length === 0 ? undefined : patch
}

/**
 * By name, so that containers which webhooks of the host added stay as they are. An image that the tenant has not
 * changed since it crossed is left alone too: where it differs, a webhook of the host rewrote it.
 */
function changedImages(from: unknown, to: unknown, crossed: JsonObject | undefined): JsonObject[] {
  const present = new Map(objectsIn(to).map((container) => [container.name, container.image]))
  return objectsIn(from).flatMap(({ name, image }) => {
    if (typeof name !== 'string' || typeof image !== 'string' || !present.has(name)) return []
    return present.get(name) === image || crossed?.[name] === image ? [] : [{ name, image }]
  })
}

/** Gates that the tenant's pod had and has no more; gates that the host added are its own. */
function liftedGates({ virtual, host, base }: PairInput): string[] {
  const had = Array.isArray(base?.gates) ? base.gates : []
  const has = gatesOf(virtual)
  return gatesOf(host).filter((gate) => had.includes(gate) && !has.includes(gate))
}

/** Conditions of the tenant's readiness gates, which the kubelet waits for on the copy. */
function gateConditions(virtual: KubeObject, host: KubeObject): PairWrite[] {
  const gates = readinessGates(virtual)
  if (gates.size === 0) return []
  const present = objectsIn(statusOf(host).conditions)
  const changed = objectsIn(statusOf(virtual).conditions).filter(
    (condition) =>
      gates.has(textOf(condition.type)) &&
      !present.some(({ type, status, reason, message }) =>
        jsonEqual(
          [type, status, reason, message],
          [condition.type, condition.status, condition.reason, condition.message],
        ),
      ),
  )
  if (changed.length === 0) return []
  const options = { rule: 'update', patchType: 'strategic', subresource: 'status' } as const
  return [patchHost(host, { status: { conditions: changed.map(withoutGeneration) } }, options)]
}

function withoutGeneration(condition: JsonObject): JsonObject {
  const { observedGeneration: _observed, ...rest } = condition
  return rest
}
