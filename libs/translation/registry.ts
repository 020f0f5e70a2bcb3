import type { KubeObject, ObjectRef } from '#libs/kube-model'
import { type TenantConfig, customResources } from '#libs/sync-config'
import { configuredReferences, decideMirror, refersByPatch, withPatches } from './configured/with-patches.ts'
import { customKind } from './custom-resources/custom-kind.ts'
import { customMirror } from './custom-resources/custom-mirror.ts'
import { readDefinition } from './custom-resources/definition.ts'
import { customResourceInfo, isCustomResource } from './custom-resources/resource.ts'
import { decide, exclusionIn } from './decide.ts'
import type { Decision, Rule } from './decision.ts'
import type { Kind, Mirror, Report } from './kind.ts'
import { configMaps } from './kinds/configmaps/configmaps.ts'
import { endpoints } from './kinds/endpoints/endpoints.ts'
import { endpointSlices } from './kinds/endpointslices.discovery.k8s.io/endpoint-slices.ts'
import { persistentVolumeClaims } from './kinds/persistentvolumeclaims/persistentvolumeclaims.ts'
import { backendTLSPolicies } from './kinds/backendtlspolicies.gateway.networking.k8s.io/backend-tls-policies.ts'
import { gateways } from './kinds/gateways.gateway.networking.k8s.io/gateways.ts'
import { grpcRoutes } from './kinds/grpcroutes.gateway.networking.k8s.io/grpc-routes.ts'
import { httpRoutes } from './kinds/httproutes.gateway.networking.k8s.io/http-routes.ts'
import { referenceGrants } from './kinds/referencegrants.gateway.networking.k8s.io/reference-grants.ts'
import { tlsRoutes } from './kinds/tlsroutes.gateway.networking.k8s.io/tls-routes.ts'
import { ingresses } from './kinds/ingresses.networking.k8s.io/ingresses.ts'
import { namespaces } from './kinds/namespaces/namespaces.ts'
import { networkPolicies } from './kinds/networkpolicies.networking.k8s.io/network-policies.ts'
import { podDisruptionBudgets } from './kinds/poddisruptionbudgets.policy/pod-disruption-budgets.ts'
import { ownVolumes } from './kinds/persistentvolumes/persistent-volumes.ts'
import { pods } from './kinds/pods/pods.ts'
import { priorityClasses } from './kinds/priorityclasses.scheduling.k8s.io/priority-classes.ts'
import { resourceClaims } from './kinds/resourceclaims.resource.k8s.io/resource-claims.ts'
import { resourceClaimTemplates } from './kinds/resourceclaimtemplates.resource.k8s.io/resource-claim-templates.ts'
import { secrets } from './kinds/secrets/secrets.ts'
import { serviceAccounts } from './kinds/serviceaccounts/service-accounts.ts'
import { services } from './kinds/services/services.ts'
import { storageClasses } from './kinds/storageclasses.storage.k8s.io/storage-classes.ts'
import { volumeSnapshotContents } from './kinds/volumesnapshotcontents.snapshot.storage.k8s.io/volume-snapshot-contents.ts'
import { volumeSnapshots } from './kinds/volumesnapshots.snapshot.storage.k8s.io/volume-snapshots.ts'
import { hostConfigMaps } from './mirrors/mapped-data/config-maps.ts'
import { hostSecrets } from './mirrors/mapped-data/secrets.ts'
import { customResourceDefinitions } from './mirrors/custom-resource-definitions/custom-resource-definitions.ts'
import { csiDrivers } from './mirrors/csi-drivers/csi-drivers.ts'
import { csiStorageCapacities } from './mirrors/csi-storage-capacities/csi-storage-capacities.ts'
import { csiNodes } from './mirrors/csi-nodes/csi-nodes.ts'
import { deviceClasses } from './mirrors/device-classes/device-classes.ts'
import { gatewayClasses } from './mirrors/gateway-classes/gateway-classes.ts'
import { ingressClasses } from './mirrors/ingress-classes/ingress-classes.ts'
import { nodes } from './mirrors/nodes/nodes.ts'
import { persistentVolumes } from './mirrors/persistent-volumes/persistent-volumes.ts'
import { hostPriorityClasses } from './mirrors/priority-classes/priority-classes.ts'
import { runtimeClasses } from './mirrors/runtime-classes/runtime-classes.ts'
import { hostStorageClasses } from './mirrors/storage-classes/storage-classes.ts'
import { volumeSnapshotClasses } from './mirrors/volume-snapshot-classes/volume-snapshot-classes.ts'
import { events } from './reports/events/events.ts'
import type { TenantContext, View } from './view.ts'

/**
 * The kinds that cross from the tenant to the host, by resource token. Adding a kind is a folder and a line here: what
 * is watched, written and decided follows. Those that others need stand before them: this is the order of deciding.
 */
export const KINDS: Readonly<Record<string, Kind>> = {
  namespaces,
  configmaps: configMaps,
  secrets,
  'priorityclasses.scheduling.k8s.io': priorityClasses,
  'storageclasses.storage.k8s.io': storageClasses,
  persistentvolumes: ownVolumes,
  'volumesnapshotcontents.snapshot.storage.k8s.io': volumeSnapshotContents,
  'volumesnapshots.snapshot.storage.k8s.io': volumeSnapshots,
  persistentvolumeclaims: persistentVolumeClaims,
  'resourceclaimtemplates.resource.k8s.io': resourceClaimTemplates,
  'resourceclaims.resource.k8s.io': resourceClaims,
  services,
  endpoints,
  'endpointslices.discovery.k8s.io': endpointSlices,
  'ingresses.networking.k8s.io': ingresses,
  'referencegrants.gateway.networking.k8s.io': referenceGrants,
  'gateways.gateway.networking.k8s.io': gateways,
  'httproutes.gateway.networking.k8s.io': httpRoutes,
  'grpcroutes.gateway.networking.k8s.io': grpcRoutes,
  'tlsroutes.gateway.networking.k8s.io': tlsRoutes,
  'backendtlspolicies.gateway.networking.k8s.io': backendTLSPolicies,
  'networkpolicies.networking.k8s.io': networkPolicies,
  'poddisruptionbudgets.policy': podDisruptionBudgets,
  serviceaccounts: serviceAccounts,
  pods,
}

/** The kinds whose originals are on the host and of which tenants get copies, by resource token. */
export const MIRRORS: Readonly<Record<string, Mirror>> = {
  'customresourcedefinitions.apiextensions.k8s.io': customResourceDefinitions,
  nodes,
  configmaps: hostConfigMaps,
  secrets: hostSecrets,
  persistentvolumes: persistentVolumes,
  'priorityclasses.scheduling.k8s.io': hostPriorityClasses,
  'storageclasses.storage.k8s.io': hostStorageClasses,
  'ingressclasses.networking.k8s.io': ingressClasses,
  'runtimeclasses.node.k8s.io': runtimeClasses,
  'gatewayclasses.gateway.networking.k8s.io': gatewayClasses,
  'deviceclasses.resource.k8s.io': deviceClasses,
  'volumesnapshotclasses.snapshot.storage.k8s.io': volumeSnapshotClasses,
  'csidrivers.storage.k8s.io': csiDrivers,
  'csinodes.storage.k8s.io': csiNodes,
  'csistoragecapacities.storage.k8s.io': csiStorageCapacities,
}

/** The kinds that say something about copies on the host and that tenants read of their own objects, by resource token. */
export const REPORTS: Readonly<Record<string, Report>> = { events }

/** The order in which the keys of one batch are decided, so that what a pod needs is written before the pod. */
export const DECIDE_ORDER: readonly string[] = [
  ...new Set(['namespaces', ...Object.keys(MIRRORS), ...Object.keys(KINDS)]),
]

/** The version of what decides about a resource: replays of old intents are explained by it. */
export function translatorVersion(resource: string): string {
  return `${resource}/${(kindFor(resource) ?? mirrorFor(resource))?.version ?? 0}`
}

/** The place of a resource in the order of deciding. Custom resources come last. */
export function decideRank(resource: string): number {
  const place = DECIDE_ORDER.indexOf(resource)
  return place < 0 ? DECIDE_ORDER.length : place
}

/** The kind of a resource that crosses from the tenant to the host. */
export function kindFor(resource: string): Kind | undefined {
  if (isCustomResource(resource)) return customKind(resource)
  return Object.hasOwn(KINDS, resource) ? KINDS[resource] : undefined
}

/** The kind of a resource of which tenants get copies of the host's objects. */
export function mirrorFor(resource: string): Mirror | undefined {
  if (isCustomResource(resource)) return customMirror(resource)
  return Object.hasOwn(MIRRORS, resource) ? MIRRORS[resource] : undefined
}

/** The kind of a resource whose host objects are about copies. */
export function reportFor(resource: string): Report | undefined {
  return Object.hasOwn(REPORTS, resource) ? REPORTS[resource] : undefined
}

/**
 * The kind that crosses and has this name in an object's `kind`; custom resources have it in their definition alone.
 * @param named of whose custom resources, and their definitions on the host
 */
export function kindNamed(
  { kind, group }: { kind: string; group?: string },
  named: { config: TenantConfig; definitionOf: (resource: string) => KubeObject | undefined },
): Pick<Kind, 'resource'> | undefined {
  const isOfGroup = (of: { group: string }): boolean => group === undefined || of.group === group
  const known = Object.values(KINDS).find(({ resource }) => resource.kind === kind && isOfGroup(resource))
  if (known !== undefined) return known
  const custom = customResources(named.config).toHost.find((each) => {
    if (!each.enabled || !isOfGroup(each)) return false
    const definition = named.definitionOf(each.resource)
    return definition !== undefined && readDefinition(definition).kind === kind
  })
  return custom === undefined ? undefined : { resource: { ...customResourceInfo(custom.resource, custom), kind } }
}

/** Mirrors whose copies are decided about again with each change of a tenant's object of this resource and their name. */
export function followersOf(resource: string): string[] {
  return Object.keys(MIRRORS).filter((mirror) => MIRRORS[mirror]?.follows === resource)
}

/** Whether all objects of this resource are the tenant's view of host objects of the same name. */
export function isMirrored(resource: string): boolean {
  return mirrorFor(resource) !== undefined && kindFor(resource) === undefined
}

/** Whether both sides have originals of this resource: each tenant's configuration says whose cross. */
export function isTwoSided(resource: string): boolean {
  return mirrorFor(resource) !== undefined && kindFor(resource) !== undefined
}

/** Whether objects of this resource have decisions at all; others are only read. */
export function isDecided(resource: string): boolean {
  return mirrorFor(resource) !== undefined || kindFor(resource) !== undefined
}

/** The kinds whose objects may refer to those of a resource that cross only while used. */
function kindsReferringTo(resource: string): Kind[] {
  return Object.values(KINDS).filter((kind) => kind.refersTo?.includes(resource) === true)
}

/** Whether each change of an object of `resource` may change what is decided about one of `target` that it refers to. */
export function informs(resource: string, target: string): boolean {
  return kindFor(resource)?.informs?.includes(target) === true
}

/** Mirrors that are there only while used, and whose use objects of this resource tell. */
export function mirrorsUsedBy(resource: string): string[] {
  return Object.keys(MIRRORS).filter((mirror) => informs(resource, mirror))
}

/** Whether a change of an object of `resource` may change what is decided about one of `user` that refers to it. */
export function followsReference(user: string, resource: string): boolean {
  return kindFor(user)?.followsReferences?.includes(resource) === true
}

/** The kinds whose objects are decided about again with each change of one of `resource` that they refer to. */
export function kindsFollowing(resource: string): Kind[] {
  return Object.values(KINDS).filter(({ followsReferences }) => followsReferences?.includes(resource) === true)
}

/** Decides about one virtual key, whatever its kind. A resource that does not cross has no decisions. */
export function decideFor(view: View): Decision[] {
  const { resource } = view.key
  const mirror = mirrorFor(resource)
  const kind = kindFor(resource)
  if (kind === undefined) return mirror === undefined ? [] : decideMirror(mirror, view)
  const decisions = decide(view, withPatches(kind, view.tenant, view.base), usersOf(resource, view.tenant))
  if (mirror === undefined) return decisions
  // What is left of the direction that is off goes, whichever that is. What is a copy in the tenant is its original's.
  const mirrored = decideMirror(mirror, viewOfOriginal(view))
  const isMirrored = mirrored.length > 0
  return [
    ...mirrored,
    ...decisions.filter((each) => !isMirrored || each.kind !== 'write' || each.target.side === 'host'),
  ]
}

/** Why a tenant's object is kept from the host, if it is: the rule, or `unknown` while that cannot be told. */
export function exclusionFor(view: View): Rule | 'unknown' | undefined {
  const kind = kindFor(view.key.resource)
  if (kind === undefined) return undefined
  return exclusionIn(view, withPatches(kind, view.tenant, view.base), usersOf(view.key.resource, view.tenant))
}

/** The kinds whose objects may refer to those of a resource, by what they are or by a patch of the tenant's. */
function usersOf(resource: string, { config }: TenantContext): readonly Kind[] {
  let known = knownUsers.get(config)
  if (known === undefined) {
    known = new Map()
    knownUsers.set(config, known)
  }
  let users = known.get(resource)
  if (users === undefined) {
    users = findUsers(resource, config)
    known.set(resource, users)
  }
  return users
}

/** Configurations never change, so what follows from one is kept with it. */
const knownUsers = new WeakMap<TenantConfig, Map<string, readonly Kind[]>>()

function findUsers(resource: string, config: TenantConfig): Kind[] {
  const users = kindsReferringTo(resource)
  const custom = Object.keys(config.sync.toHost.customResources).flatMap(
    (key) => kindFor(key.split('/')[0] ?? '') ?? [],
  )
  const byPatch = [...Object.values(KINDS), ...custom].filter((kind) => refersByPatch(config, kind, resource))
  return [...users, ...byPatch.filter((kind) => !users.includes(kind))]
}

function viewOfOriginal(view: View): View {
  const { synced, ...host } = view.original ?? { seq: 0, synced: false }
  const { related, key } = view
  return {
    ...view,
    host,
    related: {
      ...related,
      synced: (side, resource) =>
        side === 'host' && resource === key.resource ? synced : related.synced(side, resource),
    },
  }
}

/**
 * Virtual objects that an object of this resource refers to, read from its two sides as far as they are there.
 * @param tenant whose configuration may add to them, where it is known
 */
export function referencesOf(
  resource: string,
  pair: { virtual?: KubeObject | undefined; host?: KubeObject | undefined },
  tenant?: TenantContext,
): ObjectRef[] {
  const references = kindFor(resource)?.references(pair) ?? []
  return tenant === undefined ? references : [...references, ...configuredReferences(tenant, resource, pair)]
}
