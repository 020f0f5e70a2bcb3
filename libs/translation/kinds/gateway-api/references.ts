import { cloneJson } from '#libs/kernel'
import type { JsonObject, KubeObject, ObjectRef } from '#libs/kube-model'
import { asName, asObject, objectsIn } from '../../json.ts'

export const GATEWAY_GROUP = 'gateway.networking.k8s.io'
export const GATEWAYS = `gateways.${GATEWAY_GROUP}`
export const GRANTS = `referencegrants.${GATEWAY_GROUP}`

/** Kinds that a reference may name, by `group/kind`, with their resource. Others have no name on the host. */
const KNOWN: Readonly<Record<string, string>> = {
  '/Service': 'services',
  '/Secret': 'secrets',
  '/ConfigMap': 'configmaps',
  [`${GATEWAY_GROUP}/Gateway`]: GATEWAYS,
}

type Target = { group: string; kind: string }
const SERVICE: Target = { group: '', kind: 'Service' }
const SECRET: Target = { group: '', kind: 'Secret' }
const CONFIG_MAP: Target = { group: '', kind: 'ConfigMap' }
const GATEWAY: Target = { group: GATEWAY_GROUP, kind: 'Gateway' }

/** Fields that hold references, wherever in a spec they are, with what they name unless they say otherwise. */
const FIELDS: Readonly<Record<string, Target>> = {
  backendRef: SERVICE,
  backendRefs: SERVICE,
  caCertificateRefs: CONFIG_MAP,
  certificateRefs: SECRET,
  clientCertificateRef: SECRET,
  extensionRef: CONFIG_MAP,
  parametersRef: CONFIG_MAP,
  parentRefs: GATEWAY,
  targetRefs: SERVICE,
}

/** A reference in a spec. */
export type Site = Target & {
  /** The object that holds it: the original, not a copy. */
  holder: JsonObject
  field: string
  namespace: string
  name: string
  /** `undefined` for a kind that cannot be named on the host. */
  resource: string | undefined
}

/** The references in an object of the Gateway API, or in a part of it, as they are read in this namespace. */
export function sitesIn(value: unknown, namespace: string): Site[] {
  if (Array.isArray(value)) return value.flatMap((item) => sitesIn(item, namespace))
  const object = asObject(value)
  if (object === undefined) return []
  return Object.entries(object).flatMap(([field, inner]) => {
    const target = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined
    if (target === undefined) return sitesIn(inner, namespace)
    const holders = objectsIn(Array.isArray(inner) ? inner : [inner])
    // Filters of a backend hold references of their own.
    return holders.flatMap((holder) => [siteOf(holder, { field, target, namespace }), ...sitesIn(holder, namespace)])
  })
}

function siteOf(holder: JsonObject, given: { field: string; target: Target; namespace: string }): Site {
  const { field, target } = given
  const kind = asName(holder.kind) ?? target.kind
  const group = typeof holder.group === 'string' ? holder.group : target.group
  const known = `${group}/${kind}`
  return {
    holder,
    field,
    group,
    kind,
    namespace: asName(holder.namespace) ?? given.namespace,
    name: asName(holder.name) ?? '',
    resource: Object.hasOwn(KNOWN, known) ? KNOWN[known] : undefined,
  }
}

/** The object that a reference names, if its kind has a name on the host. */
export function refOfSite({ resource, namespace, name }: Site): ObjectRef | undefined {
  return resource === undefined || name === '' ? undefined : { resource, namespace, name }
}

/**
 * What an object of the Gateway API refers to. A reference into another namespace depends on all grants there, which an
 * empty name stands for; a route's attachment to a Gateway there on the labels of the route's own namespace.
 */
export function gatewayReferences(virtual: KubeObject): ObjectRef[] {
  const own = virtual.metadata.namespace ?? ''
  return sitesIn(virtual.spec, own).flatMap((site) => {
    const ref = refOfSite(site)
    const named = ref === undefined || ref.resource === 'services' ? [] : [ref]
    if (site.namespace === own) return named
    const asked: ObjectRef =
      site.field === 'parentRefs'
        ? { resource: 'namespaces', namespace: '', name: own }
        : { resource: GRANTS, namespace: site.namespace, name: '' }
    return [...named, asked]
  })
}

/** A copy of a spec to be changed. */
export function specCopy(virtual: KubeObject): JsonObject {
  return cloneJson(asObject(virtual.spec) ?? {})
}
