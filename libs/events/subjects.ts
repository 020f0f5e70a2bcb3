import { CausewayError } from '#libs/kernel'
import type { ObjectKey, Side } from '#libs/kube-model'
import { ALL_PARTITIONS, type Partition } from './partition.ts'
import { NO_NAMESPACE, decodeToken, encodeToken } from './tokens.ts'

/** First token of a subject: what kind of record it carries. */
export type RecordType = 'change' | 'intent' | 'outcome'

/** Stands for "no tenant" in the subjects of objects that concern all of them. */
const NO_TENANT = '_'

/** `change.<p>.<tenant>.<side>.<resource>.<ns>.<name>`, and likewise for intents and outcomes. */
export function subjectFor(type: RecordType, partition: Partition, key: ObjectKey): string {
  const tenant = key.tenant === '' ? NO_TENANT : encodeToken(key.tenant)
  const namespace = key.namespace === '' ? NO_NAMESPACE : encodeToken(key.namespace)
  return `${type}.${partition}.${tenant}.${key.side}.${encodeToken(key.resource)}.${namespace}.${encodeToken(key.name)}`
}

/** A subject taken apart. */
export type ParsedSubject = { type: RecordType; partition: Partition; key: ObjectKey }

/**
 * The inverse of {@link subjectFor}.
 * @throws CausewayError `SubjectInvalid` for a subject of another form
 */
export function parseSubject(subject: string): ParsedSubject {
  const tokens = subject.split('.')
  const [type, partition, tenant, side, resource, namespace, name] = tokens
  if (
    tokens.length !== 7 ||
    !isRecordType(type) ||
    !isSide(side) ||
    partition === undefined ||
    tenant === undefined ||
    resource === undefined ||
    namespace === undefined ||
    name === undefined ||
    !(partition === ALL_PARTITIONS || /^\d+$/.test(partition))
  ) {
    throw new CausewayError(`"${subject}" is not a subject of ours: expected <type>.<p>.<tenant>.<side>.…`, {
      code: 'SubjectInvalid',
    })
  }
  return {
    type,
    partition: partition === ALL_PARTITIONS ? ALL_PARTITIONS : Number(partition),
    key: {
      tenant: tenant === NO_TENANT ? '' : decodeToken(tenant),
      side,
      resource: decodeToken(resource),
      namespace: namespace === NO_NAMESPACE ? '' : decodeToken(namespace),
      name: decodeToken(name),
    },
  }
}

/** Filters that match all records of a type in a partition; for changes also those that concern every partition. */
export function partitionFilters(type: RecordType, partition: number): string[] {
  const own = `${type}.${partition}.>`
  return type === 'change' ? [own, `${type}.${ALL_PARTITIONS}.>`] : [own]
}

/** A filter that matches all records of a type for one tenant. */
export function tenantFilter(type: RecordType, partition: number, tenant: string): string {
  return `${type}.${partition}.${encodeToken(tenant)}.>`
}

/**
 * A filter that matches all records of a type, whatever their partition and side: those of a tenant (`''`: what concerns
 * all of them), of a resource, or both.
 */
export function recordFilter(
  type: RecordType,
  of: { tenant?: string | undefined; resource?: string | undefined },
): string {
  const tenant = of.tenant === undefined ? '*' : of.tenant === '' ? NO_TENANT : encodeToken(of.tenant)
  return `${type}.*.${tenant}.*.${of.resource === undefined ? '' : `${encodeToken(of.resource)}.`}>`
}

/** A filter that matches all changes of one resource on one side of a tenant, or those of one namespace. */
export function resourceFilter(
  partition: Partition,
  key: Pick<ObjectKey, 'tenant' | 'side' | 'resource'> & { namespace?: string },
): string {
  const tenant = key.tenant === '' ? NO_TENANT : encodeToken(key.tenant)
  const namespace = key.namespace === undefined ? '' : `${encodeToken(key.namespace)}.`
  return `change.${partition}.${tenant}.${key.side}.${encodeToken(key.resource)}.${namespace}>`
}

/** A filter that matches all changes of one resource on one side of every tenant in a partition. */
export function partitionFilter(partition: number, key: Pick<ObjectKey, 'side' | 'resource'>): string {
  return `change.${partition}.*.${key.side}.${encodeToken(key.resource)}.>`
}

/**
 * A filter that matches all changes of one resource on the host, of every tenant and of none.
 * @param name the end of the subject: namespace and name. @default all
 */
export function fleetFilter(resource: string, name = '>'): string {
  return `change.*.*.host.${encodeToken(resource)}.${name}`
}

function isRecordType(token: string | undefined): token is RecordType {
  return token === 'change' || token === 'intent' || token === 'outcome'
}

function isSide(token: string | undefined): token is Side {
  return token === 'virtual' || token === 'host'
}
