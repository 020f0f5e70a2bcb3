import type { ApiRequest } from './api-request.ts'
import type { Deeds } from './deeds.ts'
import { hostNamespaceOf } from './host-names.ts'
import { WORK_KINDS } from './workload.ts'

export type AuditOptions = {
  requests: readonly ApiRequest[]
  deeds: Deeds
  tenants: readonly string[]
  /** Places on the host that are somebody else's, as `kind namespace/name`. */
  foreign: ReadonlySet<string>
  /** How often one write may succeed on one object. */
  maxRepeats: number
}

const HOST = 'host'
const STAMP = 'causeway.dev'
const WORKED = new Set<string>(WORK_KINDS)
/** On the host, without a namespace: the tenants' namespaces, made at registration. */
const CLUSTER_WIDE = new Set(['namespaces'])
/** Written again and again by their nature: heartbeats, and Events that count. */
const RECURRING = new Set(['leases.coordination.k8s.io', 'events'])
const PHASES = ['Pending', 'Running', 'Succeeded']

/**
 * Goes through all writes that Causeway sent.
 * @returns every one that it should not have sent, in words
 */
export function audit(options: AuditOptions): string[] {
  const writes = options.requests.filter(({ method }) => method !== 'GET' && method !== 'HEAD')
  const done = writes.filter(({ status }) => status >= 200 && status < 300)
  return [
    ...writes.flatMap((write) => outside(write, options)),
    ...done.flatMap((write) => foreign(write, options)),
    ...writes.flatMap(withoutUid),
    ...done.flatMap(undone),
    ...wrongDeletes(done, options),
    ...goneBack(done),
    ...repeated(done, options.maxRepeats),
  ]
}

/** How a write is named in a report. */
export function describeRequest({ order, cluster, method, path, status, told, fault }: ApiRequest): string {
  return `#${order} ${cluster} ${method} ${path} → ${status}${told === status ? '' : `, told ${told}`}${fault === undefined ? '' : ` (${fault})`}`
}

function outside(write: ApiRequest, { tenants }: AuditOptions): string[] {
  const { cluster, target, body } = write
  if (cluster !== HOST || target === undefined || target.resource.startsWith('self')) return []
  const tenant = tenants.find((name) => hostNamespaceOf(name) === target.namespace)
  const labels = (body?.['metadata'] as { labels?: Record<string, string> } | undefined)?.labels
  const stamped = labels?.[`${STAMP}/tenant`]
  if (target.namespace === '' ? CLUSTER_WIDE.has(target.resource) : tenant !== undefined) {
    const isOthers = stamped !== undefined && tenant !== undefined && stamped !== tenant
    return isOthers ? [`another tenant's label: ${describeRequest(write)}`] : []
  }
  return [`outside the tenants' namespaces: ${describeRequest(write)}`]
}

function foreign(write: ApiRequest, { foreign: places }: AuditOptions): string[] {
  const { cluster, target } = write
  if (cluster !== HOST || target === undefined || target.name === '') return []
  const isTheirs = places.has(`${target.resource} ${target.namespace}/${target.name}`)
  return isTheirs ? [`somebody else's object touched: ${describeRequest(write)}`] : []
}

function withoutUid(write: ApiRequest): string[] {
  if (write.method !== 'DELETE') return []
  const uid = (write.body?.['preconditions'] as { uid?: string } | undefined)?.uid
  return uid === undefined || uid === '' ? [`delete without the uid: ${describeRequest(write)}`] : []
}

/** Data in a tenant's object that is not what the tenant put there: nobody changes it on the host. */
function undone(write: ApiRequest): string[] {
  const { cluster, method, target, body } = write
  const isData = target?.resource === 'configmaps' || target?.resource === 'secrets'
  if (cluster === HOST || !isData || method === 'DELETE' || body?.['data'] === undefined) return []
  return [`a tenant's data overwritten: ${describeRequest(write)}`]
}

/** Deletes of what the tenants still had. */
function wrongDeletes(done: readonly ApiRequest[], { deeds }: AuditOptions): string[] {
  const problems: string[] = []
  /** Host objects by uid, once they were made: whose copies they are. */
  const copies = new Map<string, { of: string }>()
  for (const write of done) {
    const { cluster, method, target, object, body, doneAt } = write
    if (target === undefined || !WORKED.has(target.resource)) continue
    const of = object?.metadata.annotations?.[`${STAMP}/uid`]
    if (cluster === HOST && method === 'POST' && object?.metadata.uid !== undefined && of !== undefined) {
      copies.set(object.metadata.uid, { of })
    }
    if (method !== 'DELETE') continue
    const uid = (body?.['preconditions'] as { uid?: string } | undefined)?.uid ?? ''
    const copy = cluster === HOST ? copies.get(uid) : { of: uid }
    const deed = deeds.byUid.get(copy?.of ?? '')
    if (copy === undefined || deed === undefined || deed.deletionAt <= doneAt) continue
    const what = `${deed.ref.kind} ${deed.ref.namespace}/${deed.ref.name}`
    const isOptional = cluster === HOST && (deed.ref.kind === 'configmaps' || deed.ref.kind === 'secrets')
    const isUsed = [...copies.values()].some(({ of: user }) => {
      const pod = deeds.byUid.get(user)
      return pod?.tenant === deed.tenant && pod.uses.includes(what) && pod.deletionAt > doneAt
    })
    if (!isOptional || isUsed) problems.push(`deleted what ${deed.tenant} still has: ${describeRequest(write)}`)
  }
  return problems
}

/** Counters in data that fell, and pods that were told an earlier phase; in the order of the API's versions. */
function goneBack(done: readonly ApiRequest[]): string[] {
  const last = new Map<string, { value: number; write: ApiRequest }>()
  const problems: string[] = []
  const versioned = done.filter(
    ({ object, method }) => method !== 'DELETE' && object?.metadata.resourceVersion !== undefined,
  )
  const version = ({ object }: ApiRequest): number => Number(object?.metadata.resourceVersion)
  for (const write of versioned.toSorted((a, b) => version(a) - version(b))) {
    const value = valueOf(write)
    if (value === undefined) continue
    const key = `${write.cluster} ${value.key}`
    const before = last.get(key)
    if (before !== undefined && value.value < before.value) {
      problems.push(
        `went back from ${before.value} to ${value.value}: ${describeRequest(write)}, after ${describeRequest(before.write)}`,
      )
    }
    last.set(key, { value: value.value, write })
  }
  return problems
}

function valueOf({ cluster, object, target }: ApiRequest): { key: string; value: number } | undefined {
  if (object === undefined || target === undefined) return undefined
  const { namespace = '', name = '', uid = '' } = object.metadata
  if (object.kind === 'ConfigMap' || object.kind === 'Secret') {
    const text = (object['data'] as { counter?: string } | undefined)?.counter
    if (text === undefined) return undefined
    const value = Number(object.kind === 'Secret' ? Buffer.from(text, 'base64').toString() : text)
    return { key: `${object.kind} ${namespace}/${name}`, value }
  }
  if (object.kind !== 'Pod' || cluster === HOST || target.subresource !== 'status') return undefined
  return { key: `Pod ${uid}`, value: PHASES.indexOf((object['status'] as { phase?: string } | undefined)?.phase ?? '') }
}

/** The same write, with the same content, to the same object. One whose answer was lost has to be made again. */
function repeated(done: readonly ApiRequest[], maxRepeats: number): string[] {
  const counts = new Map<string, { count: number; write: ApiRequest }>()
  for (const write of done) {
    if (write.target === undefined || RECURRING.has(write.target.resource) || write.told !== write.status) continue
    const { cluster, method, path, digest, object } = write
    const key = [cluster, method, path, digest, method === 'POST' ? '' : object?.metadata.uid].join(' ')
    const { count } = counts.get(key) ?? { count: 0 }
    counts.set(key, { count: count + 1, write })
  }
  return [...counts.values()]
    .filter(({ count }) => count > maxRepeats)
    .map(({ count, write }) => `${count} times the same: ${describeRequest(write)}`)
}
