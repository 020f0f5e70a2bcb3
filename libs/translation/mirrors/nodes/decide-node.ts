import type { Write } from '#libs/events'
import { jsonEqual } from '#libs/kernel'
import { type JsonObject, type KubeObject, RESOURCES, apiVersionOf } from '#libs/kube-model'
import type { Decision, Rule } from '../../decision.ts'
import { asObject, objectsIn, presentFields, stringMap } from '../../json.ts'
import { mergePatchOf } from '../../merge-patch.ts'
import { LABELS } from '../../stamps.ts'
import type { View } from '../../view.ts'
import { isNodeShown } from './shown-nodes.ts'
import { lastingTaints, materialStatus, nodeLabels, nodeSpec, nodeStatus } from './virtual-node.ts'

/**
 * Decides about a tenant's copy of a host node: it is there while the host runs one of the tenant's pods on the node, or
 * while the tenant's configuration shows it. A Node of that name that the tenant made itself is left alone.
 */
export function decideNode(view: View): Decision[] {
  const { related } = view
  const node = view.virtual.object
  const isShown = isNodeShown(view)
  if (node === undefined) return isShown ? [create(view)] : []
  if (node.metadata.labels?.[LABELS.virtualNode] !== 'true' || node.metadata.deletionTimestamp !== undefined) return []
  const uid = node.metadata.uid ?? ''
  if (!isShown) {
    // Who uses a node is told by host pods: all of them must be known first.
    if (!related.synced('host', 'pods')) return []
    return [write(view, { op: 'delete', uid, proof: { kind: 'state', seq: view.virtual.seq } }, 'mirrorUnused')]
  }
  const decisions: Decision[] = []
  const body = presentFields({ metadata: labelsPatch(view, node), spec: specPatch(view, node) })
  if (body !== undefined) {
    const patch: Write = { op: 'patch', patchType: 'merge', body, uid }
    decisions.push({ ...write(view, patch, 'mirror'), base: baseOf(view) })
  }
  const status = changedStatus(view)
  if (status !== undefined) {
    const patch: Write = { op: 'patch', patchType: 'merge', body: { status }, uid, subresource: 'status' }
    decisions.push(write(view, patch, 'mirror'))
  }
  return decisions
}

function create(view: View): Decision {
  const { name } = view.key
  const { config } = view.tenant
  const body = {
    apiVersion: apiVersionOf(RESOURCES.nodes),
    kind: RESOURCES.nodes.kind,
    metadata: { name, labels: nodeLabels(name, view.host.object, config) },
    spec: nodeSpec(view.host.object, config),
    status: nodeStatus(name, view.host.object, config),
  }
  return { ...write(view, { op: 'create', body }, 'mirror'), base: baseOf(view) }
}

/** What came from the host, so that what goes there goes here, too, and what the tenant's cluster added stays. */
function baseOf({ key, host, tenant }: View): JsonObject {
  const { taints, unschedulable = false } = nodeSpec(host.object, tenant.config)
  return {
    labels: Object.keys(nodeLabels(key.name, host.object, tenant.config)),
    taints: objectsIn(taints),
    unschedulable,
  }
}

function labelsPatch({ key, host, base, tenant }: View, node: KubeObject): JsonObject | undefined {
  const present = stringMap(node.metadata.labels)
  const wanted = nodeLabels(key.name, host.object, tenant.config)
  // What is known of the host node only grows: labels of one that is gone or not seen yet stay.
  const isKnown = host.object !== undefined
  const changed = Object.entries(wanted).filter(([label, value]) =>
    isKnown ? present[label] !== value : !(label in present),
  )
  const crossed = isKnown && Array.isArray(base?.labels) ? base.labels : []
  const gone = Object.keys(present).filter((label) => crossed.includes(label) && !(label in wanted))
  const labels = { ...Object.fromEntries(changed), ...Object.fromEntries(gone.map((label) => [label, null])) }
  return Object.keys(labels).length === 0 ? undefined : { labels }
}

/** Taints of the host and whether it takes pods; those of the tenant's own controllers stay. */
function specPatch({ host, base, tenant }: View, node: KubeObject): JsonObject | undefined {
  if (host.object === undefined) return undefined
  const { taints, unschedulable = false } = nodeSpec(host.object, tenant.config)
  const wanted = objectsIn(taints)
  const current = asObject(node.spec) ?? {}
  const patch: JsonObject = {}
  const isOf = (list: JsonObject[], taint: JsonObject): boolean => list.some((other) => isSameTaint(other, taint))
  const crossed = objectsIn(base?.taints)
  const kept = objectsIn(current.taints).filter((taint) => !isOf(crossed, taint) && !isOf(wanted, taint))
  const isMissing = wanted.some((taint) => !isOf(lastingTaints(node), taint))
  const isLeft = crossed.some((taint) => isOf(objectsIn(current.taints), taint) && !isOf(wanted, taint))
  if (isMissing || isLeft) patch.taints = [...kept, ...wanted]
  const before = base?.unschedulable === true
  if (unschedulable === true && current.unschedulable !== true) patch.unschedulable = true
  if (unschedulable !== true && before && current.unschedulable === true) patch.unschedulable = null
  return Object.keys(patch).length === 0 ? undefined : patch
}

function isSameTaint(a: JsonObject, b: JsonObject): boolean {
  return jsonEqual([a.key, a.value ?? '', a.effect], [b.key, b.value ?? '', b.effect])
}

function changedStatus(view: View): JsonObject | undefined {
  const current = asObject(view.virtual.object?.status) ?? {}
  if (view.host.object === undefined && current.conditions !== undefined) return undefined
  const { config } = view.tenant
  const wanted = nodeStatus(view.key.name, view.host.object, config)
  // Fields that others of the tenant's cluster keep in the status are theirs; which images there are is not.
  const ours = Object.fromEntries(Object.entries(current).filter(([field]) => field in wanted || field === 'images'))
  return jsonEqual(materialStatus(ours), materialStatus(wanted)) ? undefined : mergePatchOf(ours, wanted)
}

function write(view: View, write: Write, rule: Rule): Extract<Decision, { kind: 'write' }> {
  return { kind: 'write', target: { side: 'virtual', ...view.key }, write, rule, needs: [] }
}
