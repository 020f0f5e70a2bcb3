import { jsonEqual } from '#libs/kernel'
import { type JsonObject, RESOURCES, apiVersionOf } from '#libs/kube-model'
import type { Write } from '#libs/events'
import type { Decision, Rule } from '../../decision.ts'
import { asObject, objectsIn, stringMap } from '../../json.ts'
import { mergePatchOf } from '../../merge-patch.ts'
import { LABELS } from '../../stamps.ts'
import type { View } from '../../view.ts'
import { materialStatus, nodeLabels, nodeStatus } from './virtual-node.ts'

/**
 * Decides about a tenant's copy of a host node: it is there while the host runs one of the tenant's pods on the node.
 * A Node of that name that the tenant made itself is left alone.
 */
export function decideNode(view: View): Decision[] {
  const { related } = view
  const node = view.virtual.object
  const isUsed = isNodeUsed(view)
  if (node === undefined) return isUsed ? [create(view)] : []
  if (node.metadata.labels?.[LABELS.virtualNode] !== 'true' || node.metadata.deletionTimestamp !== undefined) return []
  const uid = node.metadata.uid ?? ''
  if (!isUsed) {
    // Who uses a node is told by host pods: all of them must be known first.
    if (!related.synced('host', 'pods')) return []
    return [write(view, { op: 'delete', uid, proof: { kind: 'state', seq: view.virtual.seq } }, 'mirrorUnused')]
  }
  const decisions: Decision[] = []
  const labels = missingLabels(view)
  if (labels !== undefined) {
    decisions.push(write(view, { op: 'patch', patchType: 'merge', body: { metadata: { labels } }, uid }, 'mirror'))
  }
  const status = changedStatus(view)
  if (status !== undefined) {
    const body = { status }
    decisions.push(write(view, { op: 'patch', patchType: 'merge', body, uid, subresource: 'status' }, 'mirror'))
  }
  return decisions
}

/**
 * Pods of a DaemonSet do not count: the tenant's controller makes one for every node that it sees, and the two would
 * keep each other alive.
 */
function isNodeUsed({ key, related }: View): boolean {
  return related.usersOf(key).some((user) => {
    const owners = objectsIn(related.virtual(user)?.metadata.ownerReferences)
    return !owners.some(({ kind, controller }) => controller === true && kind === 'DaemonSet')
  })
}

function create(view: View): Decision {
  const { name } = view.key
  const body = {
    apiVersion: apiVersionOf(RESOURCES.nodes),
    kind: RESOURCES.nodes.kind,
    metadata: { name, labels: nodeLabels(name, view.host.object) },
    spec: {},
    status: nodeStatus(name, view.host.object),
  }
  return write(view, { op: 'create', body }, 'mirror')
}

function missingLabels(view: View): Record<string, string> | undefined {
  // What is known of the host node only grows: labels of one that is gone or not seen yet stay.
  const present = stringMap(view.virtual.object?.metadata.labels)
  const wanted = Object.entries(nodeLabels(view.key.name, view.host.object))
  const missing = wanted.filter(([key, value]) => (view.host.object ? present[key] !== value : !(key in present)))
  return missing.length === 0 ? undefined : Object.fromEntries(missing)
}

function changedStatus(view: View): JsonObject | undefined {
  const current = asObject(view.virtual.object?.status) ?? {}
  if (view.host.object === undefined && current.conditions !== undefined) return undefined
  const wanted = nodeStatus(view.key.name, view.host.object)
  // Fields that others of the tenant's cluster keep in the status are theirs.
  const ours = Object.fromEntries(Object.entries(current).filter(([field]) => field in wanted))
  return jsonEqual(materialStatus(ours), materialStatus(wanted)) ? undefined : mergePatchOf(ours, wanted)
}

function write(view: View, write: Write, rule: Rule): Decision {
  return { kind: 'write', target: { side: 'virtual', ...view.key }, write, rule, needs: [] }
}
