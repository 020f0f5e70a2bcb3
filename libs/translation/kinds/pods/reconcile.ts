import { jsonEqual } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asName, objectsIn, textOf } from '../../json.ts'
import type { PairInput, PairWrite } from '../../kind.ts'
import { compareMetadata, metadataPatch, refOf } from '../../metadata.ts'
import { patchHost, patchVirtual } from '../../patches.ts'
import { specOf, statusOf } from './fields.ts'
import { ephemeralWrite, resizeWrite } from './live-changes.ts'
import { readinessGates, statusBack } from './status.ts'
import { specBase, specPatch } from './spec-patch.ts'
import { podStamps } from './translate.ts'

/** The writes that bring a pod and its copy to agree. */
export function reconcilePod(input: PairInput): PairWrite[] {
  const { virtual, host } = input
  const terminating = virtual.metadata.deletionTimestamp !== undefined
  const node = asName(specOf(host).nodeName)
  const boundTo = asName(specOf(virtual).nodeName)
  if (!terminating && node !== undefined && boundTo !== undefined && node !== boundTo) return [replaceMoved(input)]
  const toBind = terminating || boundTo !== undefined ? undefined : node
  const writes = terminating ? [] : metadataAndSpec(input, { isBeingBound: toBind !== undefined })
  if (toBind !== undefined) writes.push(bind(virtual, toBind))
  const status = statusBack(input)
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
  const ephemeral = terminating ? undefined : ephemeralWrite(input)
  return [...writes, ...(ephemeral === undefined ? [] : [ephemeral]), ...gateConditions(virtual, host)]
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

function metadataAndSpec(input: PairInput, { isBeingBound }: { isBeingBound: boolean }): PairWrite[] {
  const { virtual, host, base, tenant } = input
  const options = { ref: refOf(virtual, 'pods'), tenant, extra: podStamps(input) }
  const changes = compareMetadata({ virtual, host, base }, options)
  const toHost = metadataPatch(changes.host)
  const spec = specPatch(input)
  if (toHost !== undefined || spec !== undefined) {
    const body = { ...(toHost === undefined ? {} : { metadata: toHost }), ...(spec === undefined ? {} : { spec }) }
    const after = { ...changes.baseAfterHost, ...specBaseBefore(input) }
    const given = { rule: 'update', patchType: 'strategic', base: after, overruled: changes.overruled } as const
    return [patchHost(host, body, given)]
  }
  // Binding makes an API server put labels of the node on the pod. The tenant's does that as well: what it leaves out is
  // seen, and written, once the pod is bound.
  const toVirtual = isBeingBound ? undefined : metadataPatch(changes.virtual)
  if (toVirtual !== undefined) {
    const after = { ...changes.baseAfterVirtual, ...specBaseBefore(input) }
    return [patchVirtual(virtual, { metadata: toVirtual }, { rule: 'fieldsBack', base: after })]
  }
  // Last, since the host may refuse it for long, and nothing else is to wait for that.
  const resize = resizeWrite(input)
  return resize === undefined ? [] : [resize]
}

/** What a base holds of the spec while a resize has not crossed yet. */
function specBaseBefore({ virtual, base }: PairInput): JsonObject {
  const { resources: _resources, ...rest } = specBase(virtual)
  return { ...rest, ...(base?.resources === undefined ? {} : { resources: base.resources }) }
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
