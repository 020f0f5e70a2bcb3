import { ALL_PARTITIONS, MARKER_NAME, subjectFor, tenantFilter } from '#libs/events'
import type { ObjectKey, ObjectRef } from '#libs/kube-model'
import { KINDS, type TenantContext, hostRefOf, isCustomResource } from '#libs/translation'

/** Kinds of which there are most: their copies are read one by one. */
const MANY = new Set(['pods', 'configmaps', 'secrets'])

/** Objects of these refer over namespaces. */
const FAR_REACHING = 'gateway.networking.k8s.io'

type Scope = { tenant: TenantContext; partition: number }

/** The last states of all objects of a tenant, with the host's that concern all tenants. */
export function wholeTenant({ tenant, partition }: Scope): string[] {
  return [
    tenantFilter('change', partition, tenant.name),
    `change.${ALL_PARTITIONS}.>`,
    tenantFilter('outcome', partition, tenant.name),
  ]
}

/**
 * The part of a tenant's states that decisions about one object can look at: what is in its namespace, what is in none,
 * and the copies that are few. Undefined where that cannot be said of its kind, and all is to be read.
 */
export function aroundObject({ tenant, partition }: Scope, ref: ObjectRef): string[] | undefined {
  const { resource, namespace } = ref
  if (namespace === '' || resource.endsWith(FAR_REACHING) || isCustomResource(resource)) return undefined
  const prefix = (side: 'virtual' | 'host', token: string): string => {
    const any = { tenant: tenant.name, side, resource: token, namespace: '', name: MARKER_NAME } as const
    return subjectFor('change', partition, any).split('.').slice(0, 5).join('.')
  }
  const virtual = prefix('virtual', 'any').split('.').slice(0, 4).join('.')
  const inside = subjectFor('change', partition, { tenant: tenant.name, side: 'virtual', ...ref }).split('.')[5] ?? '_'
  return [
    `${virtual}.*.${inside}.*`,
    `${virtual}.*._.*`,
    // The tenant's DNS, which pods are told of. Filters must not overlap.
    ...(namespace === 'kube-system' ? [] : [`${prefix('virtual', 'services')}.kube-system.*`]),
    ...Object.keys(KINDS).flatMap((token) => [`${prefix('host', token)}.${MANY.has(token) ? '_' : '*'}.*`]),
    `change.${ALL_PARTITIONS}.>`,
    ...subjectsOf({ tenant, partition }, [ref]),
  ]
}

/** The states of single objects and of their copies, and what became of the last writes to them. */
export function subjectsOf({ tenant, partition }: Scope, refs: readonly ObjectRef[]): string[] {
  const subjects = refs.flatMap((ref) => {
    const virtual: ObjectKey = { tenant: tenant.name, side: 'virtual', ...ref }
    const copy: ObjectKey = { tenant: tenant.name, side: 'host', ...hostRefOf(ref, tenant) }
    const isCovered = !MANY.has(ref.resource) && Object.hasOwn(KINDS, ref.resource)
    return [
      ...(isCovered ? [] : [subjectFor('change', partition, copy)]),
      subjectFor('outcome', partition, virtual),
      subjectFor('outcome', partition, copy),
    ]
  })
  return [...new Set(subjects)]
}
