import type { WriteName } from '#libs/events'
import { RESOURCES, type ResourceInfo, type Side } from '#libs/kube-model'
import { type CustomResource, type TenantConfig, customResources, defaultTenantConfig } from '#libs/sync-config'
import { customResourceInfo, enabledCustomResources } from './custom-resources/resource.ts'
import type { TenantContext } from './view.ts'
import { DECIDE_ORDER, KINDS, MIRRORS, REPORTS, kindFor, mirrorFor } from './registry.ts'

/** Resources that are read of every tenant whatever crosses: pods carry their namespaces' labels. */
const ALWAYS_READ: readonly ResourceInfo[] = [RESOURCES.namespaces]

/** What must be watched in a tenant's cluster, given what of it crosses. */
export function watchedVirtual(config: TenantConfig): ResourceInfo[] {
  const wanted = [...Object.values(MIRRORS), ...Object.values(KINDS)].filter((kind) => kind.isEnabled(config))
  const read = wanted.flatMap((kind) => [kind.resource, ...('reads' in kind ? kind.reads : [])])
  return [...new Set([...ALWAYS_READ, ...read]), ...enabledCustomResources(config).map(infoOf)]
}

/** Kinds of the host by whose objects are whose. */
export type HostKinds = Record<'copies' | 'shared' | 'reports', ResourceInfo[]> & {
  named: { resource: ResourceInfo; namespace: string }[]
}

/**
 * What must be watched on the host, given what of all tenants crosses.
 * `copies` carry our label; `shared` are the host's own objects, which concern every tenant, as do those `named` by the
 * namespace they are in; `reports` are about copies and belong to the tenant in whose namespace they are.
 */
export function watchedHost(tenants: readonly TenantContext[]): HostKinds {
  // An installation without tenants watches what the default ones will need.
  const asked = tenants.length > 0 ? tenants.map(({ config }) => config) : [defaultTenantConfig()]
  const isWanted = (kind: { isEnabled(config: TenantConfig): boolean }): boolean =>
    asked.some((config) => kind.isEnabled(config))
  return {
    copies: [
      ...Object.values(KINDS)
        .filter(isWanted)
        .map(({ resource }) => resource),
      ...distinct(asked.flatMap((config) => customResources(config).toHost.filter(({ enabled }) => enabled))),
    ],
    shared: [
      ...Object.values(MIRRORS)
        .filter((mirror) => mirror.readsOriginals !== false && mirror.namespacesOf === undefined && isWanted(mirror))
        .map(({ resource }) => resource),
      ...distinct(asked.flatMap((config) => customResources(config).fromHost.filter(({ enabled }) => enabled))),
    ],
    named: Object.values(MIRRORS).flatMap((mirror) => {
      const wanting = tenants.filter(({ config }) => mirror.isEnabled(config))
      const namespaces = new Set(wanting.flatMap((tenant) => mirror.namespacesOf?.(tenant) ?? []))
      return [...namespaces].map((namespace) => ({ resource: mirror.resource, namespace }))
    }),
    reports: Object.values(REPORTS)
      .filter(isWanted)
      .map(({ resource }) => resource),
  }
}

/** Of several tenants that name one custom resource, the first says in which version it is read. */
function distinct(resources: readonly CustomResource[]): ResourceInfo[] {
  return [...new Map(resources.toReversed().map((each) => [each.resource, infoOf(each)])).values()]
}

function infoOf({ resource, version, namespaced }: CustomResource): ResourceInfo {
  return customResourceInfo(resource, { version, namespaced })
}

const HOST_WRITES: readonly WriteName[] = ['create', 'patch', 'delete']

/**
 * Every kind of write that decisions can lead to, by side and resource. Nothing else is ever to be written, whatever an
 * intent says.
 */
export const REACH: Readonly<Record<Side, Readonly<Record<string, readonly WriteName[]>>>> = {
  host: Object.fromEntries(
    Object.entries(KINDS).map(([resource, { hostWrites }]) => [resource, hostWrites ?? HOST_WRITES]),
  ),
  virtual: {
    ...Object.fromEntries(
      DECIDE_ORDER.map((resource) => [
        resource,
        [...new Set([mirrorFor(resource), kindFor(resource)].flatMap((kind) => kind?.virtualWrites ?? []))],
      ]),
    ),
    // Made where copies of the host's objects are to appear.
    namespaces: ['create', 'patch'],
    // Besides what the host reports, what we tell tenants ourselves.
    events: ['announce'],
  },
}

/** Whether copies of this resource, or what copies of it mirror, have no namespace on the host. */
export function isClusterScoped(resource: string): boolean {
  return kindFor(resource)?.resource.namespaced === false || mirrorFor(resource)?.resource.namespaced === false
}

/**
 * Kinds of which a side has copies of ours, or objects that we end: their end must be seen also where nobody asks for
 * the kind any more.
 */
export function kindsEndedOn(side: Side): ResourceInfo[] {
  const kinds = Object.values(KINDS)
  if (side === 'host') return kinds.map(({ resource }) => resource)
  const ended = [...Object.values(MIRRORS), ...kinds.filter(({ lifecycle }) => lifecycle === 'pod')]
  return ended.map(({ resource }) => resource)
}
