import type { ApiObject } from './api-request.ts'
import { canonical, labelsOf, servicePorts, shownPod, usedBy } from './fields.ts'
import { hostNameOf, hostNamespaceOf } from './host-names.ts'
import { BLOCKED, WORK_KINDS, type WorkKind } from './workload.ts'

/** All objects of the kinds of the workload, by kind. */
export type ClusterState = Record<WorkKind, ApiObject[]>

/** What there is to judge. */
export type State = {
  host: ClusterState
  tenants: Record<string, ClusterState>
  /** What was put on the host before, by {@link placeOf}, as it was then. */
  foreign: ReadonlyMap<string, ApiObject>
  /** Uids of objects that tenants made and never deleted, with words for them. */
  alive: ReadonlyMap<string, string>
}

/** `kind namespace/name` of an object. */
export function placeOf(kind: WorkKind, { metadata }: ApiObject): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name ?? ''}`
}

const STAMP = 'causeway.dev'

/**
 * Compares both sides by what the tenants have. Knows the documented names and stamps, and nothing of how Causeway
 * comes to its copies.
 * @returns everything that is not as it must be, in words; empty when all is well
 */
export function judge(state: State): string[] {
  const problems: string[] = []
  const expected = new Set<string>()
  const copies = new Map(WORK_KINDS.flatMap((kind) => state.host[kind].map((copy) => [placeOf(kind, copy), copy])))
  const found = new Set<string>()
  for (const [tenant, cluster] of Object.entries(state.tenants)) {
    const used = new Set(cluster.pods.filter(({ metadata }) => metadata.name !== BLOCKED).flatMap(usedBy))
    for (const kind of WORK_KINDS) {
      for (const object of cluster[kind]) {
        found.add(object.metadata.uid ?? '')
        if (!isSynced(kind, object, used)) continue
        const name = hostNameOf(tenant, {
          namespace: object.metadata.namespace ?? '',
          name: object.metadata.name ?? '',
        })
        const place = placeOf(kind, { metadata: { namespace: hostNamespaceOf(tenant), name } })
        if (state.foreign.has(place)) continue
        expected.add(place)
        const what = `${tenant}: ${placeOf(kind, object)}`
        const copy = copies.get(place)
        if (copy === undefined) problems.push(`${what} has no copy ${place}`)
        else problems.push(...compare(kind, { tenant, object, copy }).map((problem) => `${what}: ${problem}`))
      }
    }
  }
  for (const [place, copy] of copies) {
    if (expected.has(place) || state.foreign.has(place)) continue
    if (isInTenantNamespace(copy, Object.keys(state.tenants)) && !isFixture(copy)) {
      problems.push(
        `host: ${place} should not be there (${copy.metadata.annotations?.[`${STAMP}/name`] ?? 'no stamp'})`,
      )
    }
  }
  for (const [place, before] of state.foreign) {
    const now = copies.get(place)
    if (now === undefined) problems.push(`host: ${place}, which is somebody else's, is gone`)
    else if (canonical(now) !== canonical(before))
      problems.push(`host: ${place}, which is somebody else's, was changed`)
  }
  for (const [uid, words] of state.alive) if (!found.has(uid)) problems.push(`${words} is gone, and nobody deleted it`)
  return problems
}

/** Pods, Services and claims always cross, ConfigMaps and Secrets while a pod uses them. */
function isSynced(kind: WorkKind, object: ApiObject, used: ReadonlySet<string>): boolean {
  const { namespace = '', name = '' } = object.metadata
  if (kind === 'services') return !(namespace === 'default' && name === 'kubernetes')
  if (kind === 'configmaps' || kind === 'secrets') return used.has(`${kind} ${namespace}/${name}`)
  return true
}

function compare(
  kind: WorkKind,
  { tenant, object, copy }: { tenant: string; object: ApiObject; copy: ApiObject },
): string[] {
  const { namespace, name, uid } = object.metadata
  const stamps = copy.metadata.annotations ?? {}
  const problems: string[] = []
  const same = (what: string, wanted: unknown, is: unknown): void => {
    const [a, b] = [canonical(wanted), canonical(is)]
    if (a !== b) problems.push(`${what} is ${b} on the host, not ${a}`)
  }
  same('stamp of the uid', uid, stamps[`${STAMP}/uid`])
  same('stamp of the name', `${namespace}/${name}`, `${stamps[`${STAMP}/namespace`]}/${stamps[`${STAMP}/name`]}`)
  same('stamp of the kind', kind, stamps[`${STAMP}/resource`])
  same('label of the tenant', tenant, copy.metadata.labels?.[`${STAMP}/tenant`])
  same('labels', labelsOf(object), labelsOf(copy))
  for (const [side, { metadata }] of Object.entries({ tenant: object, host: copy })) {
    if (metadata.deletionTimestamp !== undefined) problems.push(`on its way out on the side of the ${side}`)
  }
  const nameOf = (used: string): string =>
    hostNameOf(tenant, { namespace: namespace ?? '', name: used.split('/')[1] ?? '' })
  switch (kind) {
    case 'pods': {
      same('state', shownPod(object), shownPod(copy))
      const wanted = usedBy(object).map((used) => `${used.split(' ')[0]} ${hostNamespaceOf(tenant)}/${nameOf(used)}`)
      same('volumes', wanted, usedBy(copy))
      if (shownPod(copy).phase !== 'Running') problems.push('does not run')
      break
    }
    case 'configmaps':
    case 'secrets':
      same('data', object['data'], copy['data'])
      break
    case 'services':
      same('ports', servicePorts(object), servicePorts(copy))
      same(
        'address',
        (object['spec'] as { clusterIP?: string }).clusterIP,
        (copy['spec'] as { clusterIP?: string }).clusterIP,
      )
      break
    case 'persistentvolumeclaims': {
      const bound = ({ spec, status }: ApiObject): unknown => {
        const { volumeName, resources } = spec as { volumeName?: string; resources?: object }
        return [(status as { phase?: string } | undefined)?.phase, volumeName, resources]
      }
      same('claim', bound(object), bound(copy))
      break
    }
  }
  return problems
}

function isInTenantNamespace({ metadata }: ApiObject, tenants: string[]): boolean {
  const isStamped = metadata.labels?.[`${STAMP}/tenant`] !== undefined
  return isStamped || tenants.some((tenant) => metadata.namespace === hostNamespaceOf(tenant))
}

/** What each namespace has by itself. */
function isFixture({ metadata }: ApiObject): boolean {
  return metadata.name === 'kube-root-ca.crt'
}
