import { cloneJson, jsonEqual } from '#libs/kernel'
import type { JsonObject } from '#libs/kube-model'
import { withGenerations } from '../../generation.ts'
import { asName, asObject, objectsIn } from '../../json.ts'
import type { PairInput } from '../../kind.ts'
import { virtualRefOf } from '../../stamps.ts'
import { GATEWAYS, sitesIn } from './references.ts'
import { hostHolder } from './translate.ts'

/**
 * The status of the copy as the tenant reads it: with its generations, and with its own parents. What the host says of
 * parents that the tenant does not have stays there.
 */
export function gatewayStatus(input: PairInput): JsonObject | undefined {
  const status = asObject(input.host.status)
  if (status === undefined) return undefined
  const desired = withGenerations(cloneJson(status), input) as JsonObject
  if (desired.parents !== undefined) desired.parents = parentsOf(desired.parents, input)
  if (desired.ancestors !== undefined) desired.ancestors = ancestorsOf(desired.ancestors, input)
  return desired
}

/** Parents of a route are told as the route itself names them. */
function parentsOf(parents: unknown, { virtual, tenant }: PairInput): JsonObject[] {
  const namespace = virtual.metadata.namespace ?? ''
  const named = sitesIn(virtual.spec, namespace).filter(({ field }) => field === 'parentRefs')
  return objectsIn(parents).flatMap((parent) => {
    const told = comparable(asObject(parent.parentRef) ?? {})
    const site = named.find((each) => jsonEqual(comparable(hostHolder(each, { tenant, namespace })), told))
    return site === undefined ? [] : [{ ...parent, parentRef: cloneJson(site.holder) }]
  })
}

/** Every controller fills in defaults of its own: only what tells parents apart counts. */
function comparable(ref: JsonObject): JsonObject {
  const { kind, name, sectionName, port } = ref
  return { kind: kind ?? 'Gateway', name: name ?? '', sectionName: sectionName ?? '', port: port ?? 0 }
}

function ancestorsOf(ancestors: unknown, { host, related }: PairInput): JsonObject[] {
  return objectsIn(ancestors).flatMap((ancestor) => {
    const ref = asObject(ancestor.ancestorRef) ?? {}
    const namespace = asName(ref.namespace) ?? host.metadata.namespace ?? ''
    const copy = related.host({ resource: GATEWAYS, namespace, name: asName(ref.name) ?? '' })
    const original = copy === undefined ? undefined : virtualRefOf(copy)?.ref
    if (original === undefined) return []
    return [{ ...ancestor, ancestorRef: { ...ref, name: original.name, namespace: original.namespace } }]
  })
}
