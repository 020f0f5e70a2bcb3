import { cloneJson } from '#libs/kernel'
import type { JsonObject, KubeObject, ObjectRef } from '#libs/kube-model'
import { asName, asObject, objectsIn } from '../../json.ts'
import { hostRefOf } from '../../names.ts'
import { ANNOTATIONS, LABELS } from '../../stamps.ts'
import type { Related, TenantContext } from '../../view.ts'

/**
 * Whether endpoints do not cross: only those of a Service that is there and has no selector do, since the host makes the
 * others itself. `unknown` while it cannot be told whether there is one.
 */
export function isNotForUs(service: ObjectRef | undefined, related: Related): boolean | 'unknown' {
  // The tenant's own API, which every cluster has under this name.
  if (service === undefined || (service.namespace === 'default' && service.name === 'kubernetes')) return true
  const found = related.virtual(service)
  if (found === undefined) return related.synced('virtual', 'services') ? true : 'unknown'
  return hasSelector(found)
}

export function hasSelector(service: KubeObject): boolean {
  return Object.keys(asObject(asObject(service.spec)?.selector) ?? {}).length > 0
}

/**
 * What an endpoint stands for, on the host: a pod's copy. A node is the same there; other objects have no meaning there
 * and are left out.
 */
function hostTargetRef(
  target: unknown,
  context: { namespace: string; tenant: TenantContext; related: Related },
): JsonObject | undefined {
  const { tenant, related } = context
  const ref = asObject(target)
  const name = asName(ref?.name)
  if (ref === undefined || name === undefined) return undefined
  if (ref.kind === 'Node') return cloneJson(ref)
  if (ref.kind !== 'Pod') return undefined
  const { uid: _uid, resourceVersion: _version, ...rest } = cloneJson(ref)
  const namespace = asName(ref.namespace) ?? context.namespace
  const host = hostRefOf({ resource: 'pods', namespace, name }, tenant)
  const uid = related.host(host)?.metadata.uid
  return { ...rest, name: host.name, namespace: host.namespace, ...(uid === undefined ? {} : { uid }) }
}

/** Replaces `targetRef` in each of these, which are copies. */
export function translateTargets(
  endpoints: unknown,
  context: { namespace: string; tenant: TenantContext; related: Related },
): void {
  for (const endpoint of objectsIn(endpoints)) {
    if (endpoint.targetRef === undefined) continue
    const target = hostTargetRef(endpoint.targetRef, context)
    if (target === undefined) delete endpoint.targetRef
    else endpoint.targetRef = target
  }
}

/**
 * Whether Endpoints on the host are those that its own controller made for a Service's copy, and has left behind since it
 * lost its selector: they carry the labels of that copy.
 */
export function areLeftEndpoints(
  host: KubeObject,
  service: { ref: ObjectRef; copy: KubeObject; tenant: string },
): boolean {
  const { labels, annotations } = host.metadata
  return (
    !hasSelector(service.copy) &&
    annotations?.[ANNOTATIONS.resource] === undefined &&
    labels?.[LABELS.tenant] === service.tenant &&
    labels[LABELS.namespace] === service.ref.namespace
  )
}
