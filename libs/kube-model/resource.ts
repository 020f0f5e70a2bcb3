/** How a kind is served: the parts of its REST path and whether its objects live in namespaces. */
export type ResourceInfo = {
  /** API group, empty for the core group. */
  group: string
  /** Empty where the server is to say which it prefers, as for custom resources: clients look that up. */
  version: string
  plural: string
  kind: string
  namespaced: boolean
}

/** Names a resource in one token: `pods`, or `deployments.apps` outside the core group. */
export function resourceToken(resource: Pick<ResourceInfo, 'group' | 'plural'>): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`
}

/** `v1` or `group/version`, as objects carry it in `apiVersion`. */
export function apiVersionOf(resource: Pick<ResourceInfo, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
}

/** The REST path of a collection or, with a name, of an object; every part is percent-encoded. */
export function resourcePath(
  resource: ResourceInfo,
  target: { namespace?: string | undefined; name?: string | undefined; subresource?: string | undefined } = {},
): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`
  const scope = resource.namespaced && target.namespace ? `/namespaces/${encodeURIComponent(target.namespace)}` : ''
  const name = target.name === undefined ? '' : `/${encodeURIComponent(target.name)}`
  const sub = target.subresource === undefined ? '' : `/${target.subresource}`
  return `${root}${scope}/${resource.plural}${name}${sub}`
}

const core = (plural: string, kind: string, namespaced = true): ResourceInfo => ({
  group: '',
  version: 'v1',
  plural,
  kind,
  namespaced,
})

const grouped = (apiVersion: `${string}/${string}`, plural: string, kind: string, namespaced = true): ResourceInfo => {
  const [group = '', version = ''] = apiVersion.split('/')
  return { group, version, plural, kind, namespaced }
}

/** The kinds that cross the bridge or that the bridge needs to know of, by their tokens. */
export const RESOURCES = {
  pods: core('pods', 'Pod'),
  configmaps: core('configmaps', 'ConfigMap'),
  secrets: core('secrets', 'Secret'),
  services: core('services', 'Service'),
  events: core('events', 'Event'),
  nodes: core('nodes', 'Node', false),
  namespaces: core('namespaces', 'Namespace', false),
  endpoints: core('endpoints', 'Endpoints'),
  persistentvolumeclaims: core('persistentvolumeclaims', 'PersistentVolumeClaim'),
  persistentvolumes: core('persistentvolumes', 'PersistentVolume', false),
  serviceaccounts: core('serviceaccounts', 'ServiceAccount'),
  'endpointslices.discovery.k8s.io': grouped('discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice'),
  'ingresses.networking.k8s.io': grouped('networking.k8s.io/v1', 'ingresses', 'Ingress'),
  'ingressclasses.networking.k8s.io': grouped('networking.k8s.io/v1', 'ingressclasses', 'IngressClass', false),
  'networkpolicies.networking.k8s.io': grouped('networking.k8s.io/v1', 'networkpolicies', 'NetworkPolicy'),
  'poddisruptionbudgets.policy': grouped('policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget'),
  'priorityclasses.scheduling.k8s.io': grouped('scheduling.k8s.io/v1', 'priorityclasses', 'PriorityClass', false),
  'runtimeclasses.node.k8s.io': grouped('node.k8s.io/v1', 'runtimeclasses', 'RuntimeClass', false),
  'storageclasses.storage.k8s.io': grouped('storage.k8s.io/v1', 'storageclasses', 'StorageClass', false),
  'csidrivers.storage.k8s.io': grouped('storage.k8s.io/v1', 'csidrivers', 'CSIDriver', false),
  'csinodes.storage.k8s.io': grouped('storage.k8s.io/v1', 'csinodes', 'CSINode', false),
  'csistoragecapacities.storage.k8s.io': grouped('storage.k8s.io/v1', 'csistoragecapacities', 'CSIStorageCapacity'),
  'resourceclaims.resource.k8s.io': grouped('resource.k8s.io/v1', 'resourceclaims', 'ResourceClaim'),
  'resourceclaimtemplates.resource.k8s.io': grouped(
    'resource.k8s.io/v1',
    'resourceclaimtemplates',
    'ResourceClaimTemplate',
  ),
  'deviceclasses.resource.k8s.io': grouped('resource.k8s.io/v1', 'deviceclasses', 'DeviceClass', false),
  'volumesnapshotclasses.snapshot.storage.k8s.io': grouped(
    'snapshot.storage.k8s.io/v1',
    'volumesnapshotclasses',
    'VolumeSnapshotClass',
    false,
  ),
  'volumesnapshots.snapshot.storage.k8s.io': grouped('snapshot.storage.k8s.io/v1', 'volumesnapshots', 'VolumeSnapshot'),
  'volumesnapshotcontents.snapshot.storage.k8s.io': grouped(
    'snapshot.storage.k8s.io/v1',
    'volumesnapshotcontents',
    'VolumeSnapshotContent',
    false,
  ),
  'gatewayclasses.gateway.networking.k8s.io': grouped(
    'gateway.networking.k8s.io/v1',
    'gatewayclasses',
    'GatewayClass',
    false,
  ),
  'gateways.gateway.networking.k8s.io': grouped('gateway.networking.k8s.io/v1', 'gateways', 'Gateway'),
  'httproutes.gateway.networking.k8s.io': grouped('gateway.networking.k8s.io/v1', 'httproutes', 'HTTPRoute'),
  'grpcroutes.gateway.networking.k8s.io': grouped('gateway.networking.k8s.io/v1', 'grpcroutes', 'GRPCRoute'),
  'tlsroutes.gateway.networking.k8s.io': grouped('gateway.networking.k8s.io/v1', 'tlsroutes', 'TLSRoute'),
  'backendtlspolicies.gateway.networking.k8s.io': grouped(
    'gateway.networking.k8s.io/v1',
    'backendtlspolicies',
    'BackendTLSPolicy',
  ),
  'referencegrants.gateway.networking.k8s.io': grouped(
    'gateway.networking.k8s.io/v1beta1',
    'referencegrants',
    'ReferenceGrant',
  ),
  'customresourcedefinitions.apiextensions.k8s.io': grouped(
    'apiextensions.k8s.io/v1',
    'customresourcedefinitions',
    'CustomResourceDefinition',
    false,
  ),
  'leases.coordination.k8s.io': grouped('coordination.k8s.io/v1', 'leases', 'Lease'),
} as const satisfies Record<string, ResourceInfo>

/** Resource tokens of the kinds in {@link RESOURCES}. */
export type KnownResource = keyof typeof RESOURCES

/** Looks up a kind by its token; `undefined` when it is not one of {@link RESOURCES}. */
export function knownResource(token: string): ResourceInfo | undefined {
  return Object.hasOwn(RESOURCES, token) ? RESOURCES[token as KnownResource] : undefined
}
