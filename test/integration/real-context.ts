import { type KubeObject, type ObjectRef, RESOURCES } from '#libs/kube-model'
import { type TenantConfig, parseTenantConfig } from '#libs/sync-config'
import { isCustomResource } from '#libs/translation'
import { MANIFESTS, type Manifest } from './real-manifests.ts'

export type Known = { ref: ObjectRef; object: KubeObject }

export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'

/** What a file refers to and does not hold, on the tenant's side: classes are those that it is shown of the host. */
const CONTEXT: Readonly<Record<string, readonly KubeObject[]>> = {
  'gateway-cross-namespace.yaml': [gatewayClass('shared-gateway-class')],
  'gateway-name-253.yaml': [gatewayClass('{GATEWAY_CLASS_NAME}')],
  'gateway-service-types.yaml': [gateway('same-namespace', 'gateway-conformance-infra')],
  'gateway-tls-referencegrant.yaml': [gatewayClass('example')],
  'grpcroute-filters.yaml': [gateway('example-gateway', 'default')],
}

/** Everything crosses, the tenant's own classes among it. */
const EVERYTHING = {
  policies: { podSecurityStandard: 'privileged' },
  networking: { apiServer: { host: '10.96.0.20' }, dns: { address: '10.96.0.30' } },
  sync: {
    toHost: {
      ...switches(
        'ingresses',
        'networkPolicies',
        'podDisruptionBudgets',
        'serviceAccounts',
        'priorityClasses',
        'storageClasses',
        'persistentVolumes',
        'volumeSnapshots',
        'volumeSnapshotContents',
        'resourceClaims',
        'resourceClaimTemplates',
      ),
      configMaps: { enabled: true, all: true },
      secrets: { enabled: true, all: true },
      customResources: customResources({}),
    },
  },
}

const gatewayApi = {
  enabled: true,
  ...switches('grpcRoutes', 'tlsRoutes', 'backendTLSPolicies', 'referenceGrants'),
}

/** All in one host namespace. */
export const ALL_TO_HOST = configOf({
  ...EVERYTHING,
  sync: { toHost: { ...EVERYTHING.sync.toHost, gatewayApi } },
})

/** The same with a host namespace for each of the tenant's. */
export const OWN_NAMESPACES = configOf({
  ...EVERYTHING,
  sync: { toHost: { ...EVERYTHING.sync.toHost, gatewayApi, namespaces: { enabled: true } } },
})

/** Each namespace of the host has its own in the tenant. */
const mappings = {
  byName: Object.fromEntries(
    MANIFESTS.flatMap(({ object: { metadata } }) =>
      metadata.namespace === undefined ? [] : [[`${metadata.namespace}/*`, `host-${metadata.namespace}/*`]],
    ),
  ),
}

/** Everything of the host is shown. */
export const ALL_FROM_HOST = configOf({
  sync: {
    fromHost: {
      ...switches('ingressClasses', 'priorityClasses', 'storageClasses', 'volumeSnapshotClasses'),
      configMaps: { enabled: true, mappings },
      secrets: { enabled: true, mappings },
      customResources: customResources({ mappings }),
    },
  },
})

/** Definitions of kinds that are known are for the operator to install, in each cluster. */
export function isInstalled({ token, object }: Manifest): boolean {
  return token === DEFINITIONS && !isCustomResource(object.metadata.name ?? '')
}

/** What the objects of a file refer to and are not in it. */
export function contextFor(file: string): Known[] {
  return (CONTEXT[file] ?? []).map((object) => ({ ref: refOf(tokenOf(object), object), object }))
}

export function refOf(resource: string, { metadata }: KubeObject): ObjectRef {
  return { resource, namespace: metadata.namespace ?? '', name: metadata.name ?? '' }
}

function tokenOf({ kind }: KubeObject): string {
  return Object.entries(RESOURCES).find(([, resource]) => resource.kind === kind)?.[0] ?? ''
}

function gatewayClass(name: string): KubeObject {
  const metadata = { name, labels: { 'causeway.dev/mirror': 'true' } }
  return { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'GatewayClass', metadata }
}

/** A Gateway that admits the routes of its own namespace. */
function gateway(name: string, namespace: string): KubeObject {
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }]
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name, namespace },
    spec: { gatewayClassName: 'any', listeners },
  }
}

function switches(...keys: string[]): Record<string, { enabled: true }> {
  return Object.fromEntries(keys.map((key) => [key, { enabled: true }]))
}

/** Every kind that the files define and that is none of those that are known. */
function customResources(more: { mappings?: object }): Record<string, object> {
  const definitions = MANIFESTS.filter((manifest) => manifest.token === DEFINITIONS && !isInstalled(manifest))
  return Object.fromEntries(
    definitions.map(({ object }) => {
      const { scope } = object['spec'] as { scope: string }
      return [object.metadata.name ?? '', { enabled: true, scope, ...(scope === 'Namespaced' ? more : {}) }]
    }),
  )
}

function configOf(value: object): TenantConfig {
  const { config, problems } = parseTenantConfig(value)
  if (config === undefined) throw new Error(JSON.stringify(problems))
  return config
}
