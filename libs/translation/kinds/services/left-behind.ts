import type { KubeObject, ObjectRef } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { objectsIn } from '../../json.ts'
import type { PairInput } from '../../kind.ts'
import { hostRefOf } from '../../names.ts'
import { ANNOTATIONS } from '../../stamps.ts'
import { areLeftEndpoints, hasSelector } from '../endpoints/for-service.ts'

const SLICES = 'endpointslices.discovery.k8s.io'
const SERVICE_NAME = 'kubernetes.io/service-name'
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
const CONTROLLER = 'endpointslice-controller.k8s.io'

/**
 * The Service's copy that something on the host may have been made for by the host's own controllers.
 * @returns undefined for what they make nothing of
 */
export function serviceOfDerived(resource: string, { metadata }: KubeObject): ObjectRef | undefined {
  const { name = '', namespace = '', labels, annotations } = metadata
  if (annotations?.[ANNOTATIONS.resource] !== undefined) return undefined
  if (resource === 'endpoints') return { resource: 'services', namespace, name }
  const service = resource === SLICES && labels?.[MANAGED_BY] === CONTROLLER ? labels[SERVICE_NAME] : undefined
  return service === undefined ? undefined : { resource: 'services', namespace, name: service }
}

/**
 * Endpoints and EndpointSlices that the host made for a Service while it had a selector: its controllers leave them as
 * they are, and what the tenant now says by its own would be mixed with them.
 */
export function leftBehind({ virtual, host, tenant, related }: PairInput): { ref: ObjectRef; object: KubeObject }[] {
  if (hasSelector(virtual) || hasSelector(host)) return []
  const { name: copy = '', namespace = '', uid } = host.metadata
  const found: { ref: ObjectRef; object: KubeObject }[] = []
  if (isEnabled(tenant.config, 'toHost', 'endpointSlices')) {
    for (const object of related.hostIn(SLICES, namespace)) {
      const isOurs = serviceOfDerived(SLICES, object)?.name === copy && isOwnedBy(object, uid)
      const { name = '' } = object.metadata
      if (isOurs && !isGoing(object)) found.push({ ref: { resource: SLICES, namespace, name }, object })
    }
  }
  const service: ObjectRef = {
    resource: 'services',
    namespace: virtual.metadata.namespace ?? '',
    name: virtual.metadata.name ?? '',
  }
  const own = { ...service, resource: 'endpoints' }
  // Those of the tenant make room for themselves.
  const isTheirs = related.virtual(own) !== undefined || !related.synced('virtual', 'endpoints')
  if (isTheirs || !isEnabled(tenant.config, 'toHost', 'endpoints')) return found
  const ref = hostRefOf(own, tenant)
  const object = related.host(ref)
  const isLeft = object !== undefined && areLeftEndpoints(object, { ref: service, copy: host, tenant: tenant.name })
  return isLeft && !isGoing(object) ? [...found, { ref, object }] : found
}

function isOwnedBy({ metadata }: KubeObject, uid: string | undefined): boolean {
  return uid !== undefined && objectsIn(metadata.ownerReferences).some((owner) => owner.uid === uid)
}

function isGoing({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined
}
