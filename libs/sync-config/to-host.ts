import { z } from 'zod'
import { autoSwitch, enabled, kindSwitch, mappings, patches, whenUsedSwitch } from './fields.ts'

const pods = z
  .strictObject({
    enabled: enabled(true, 'Run the tenant’s pods on the host'),
    translateImage: z
      .record(z.string(), z.string())
      .default({})
      .describe('Images by which others are replaced, by their exact name')
      .meta({ examples: [{ 'docker.io/library/nginx:1.29': 'registry.example.com/nginx:1.29' }] }),
    enforceTolerations: z
      .array(z.string())
      .default([])
      .describe(
        'Tolerations that every pod gets: `key=value:Effect`, `key:Effect`, `key=value`, `key`, or `*` for all taints',
      )
      .meta({ examples: [['dedicated=tenants:NoSchedule']] }),
    runtimeClassName: z
      .string()
      .default('')
      .describe('Runtime class that every pod gets; empty: its own')
      .meta({ examples: ['gvisor'] }),
    priorityClassName: z
      .string()
      .default('')
      .describe('Priority class that pods get which have none after translation; empty: none')
      .meta({ examples: ['tenant-default'] }),
    rewriteHosts: z
      .strictObject({
        enabled: enabled(true, 'Pods with a subdomain resolve their own full name, by an entry in their hosts file'),
      })
      .prefault({})
      .describe('Names of pods with a subdomain'),
    patches,
  })
  .prefault({})
  .describe('Pods')

const namespaces = z
  .strictObject({
    enabled: enabled(
      false,
      'Each of the tenant’s namespaces gets a host namespace of its own. Cannot be changed for a tenant that is there',
    ),
    mappings,
    mappingsOnly: z
      .boolean()
      .default(false)
      .describe('Namespaces that no mapping names do not cross')
      .meta({ examples: [true] }),
    extraLabels: z
      .record(z.string(), z.string())
      .default({})
      .describe('Labels of the host namespaces')
      .meta({ examples: [{ 'example.com/managed': 'true' }] }),
    patches,
  })
  .prefault({})
  .describe('Namespaces')

const customResource = z.strictObject({
  enabled: enabled(false, 'Objects of this kind cross to the host; the tenant gets the host’s definition'),
  scope: z
    .enum(['Namespaced', 'Cluster'])
    .default('Namespaced')
    .describe('Whether objects of this kind are in namespaces')
    .meta({ examples: ['Cluster'] }),
  patches,
})

const gatewayApi = z
  .strictObject({
    enabled: enabled(false, 'Gateways and HTTPRoutes cross, and the tenant sees the host’s GatewayClasses'),
    gateways: kindSwitch(false, 'Gateways; on as well where `gatewayApi.enabled` is'),
    httpRoutes: kindSwitch(false, 'HTTPRoutes; on as well where `gatewayApi.enabled` is'),
    grpcRoutes: kindSwitch(false, 'GRPCRoutes'),
    tlsRoutes: kindSwitch(false, 'TLSRoutes'),
    backendTLSPolicies: kindSwitch(false, 'BackendTLSPolicies'),
    referenceGrants: autoSwitch(
      'ReferenceGrants. `auto`: where the Gateway API and namespaces cross. The tenant’s grants are asked in any case',
    ),
  })
  .prefault({})
  .describe('Gateway API')

/** What of the tenant's objects is copied to the host. */
export const toHost = z
  .strictObject({
    pods,
    services: kindSwitch(true, 'Services'),
    endpoints: kindSwitch(true, 'Endpoints of Services without selector'),
    endpointSlices: kindSwitch(true, 'EndpointSlices of Services without selector'),
    configMaps: whenUsedSwitch('ConfigMaps that something synced refers to'),
    secrets: whenUsedSwitch('Secrets that something synced refers to'),
    persistentVolumeClaims: kindSwitch(
      true,
      'PersistentVolumeClaims, with a PersistentVolume that stands for the host’s',
    ),
    ingresses: kindSwitch(false, 'Ingresses'),
    networkPolicies: kindSwitch(false, 'NetworkPolicies'),
    podDisruptionBudgets: kindSwitch(false, 'PodDisruptionBudgets'),
    serviceAccounts: kindSwitch(false, 'ServiceAccounts; pods then run under their own'),
    priorityClasses: kindSwitch(false, 'PriorityClasses of the tenant'),
    storageClasses: kindSwitch(false, 'StorageClasses of the tenant'),
    persistentVolumes: kindSwitch(false, 'PersistentVolumes of the tenant'),
    volumeSnapshots: kindSwitch(false, 'VolumeSnapshots'),
    volumeSnapshotContents: kindSwitch(false, 'VolumeSnapshotContents'),
    namespaces,
    resourceClaims: kindSwitch(false, 'ResourceClaims'),
    resourceClaimTemplates: kindSwitch(false, 'ResourceClaimTemplates'),
    gatewayApi,
    customResources: z
      .record(z.string(), customResource)
      .default({})
      .describe('Custom resources, by `plural.group` or `plural.group/version`')
      .meta({ examples: [{ 'certificates.cert-manager.io': { enabled: true } }] }),
  })
  .prefault({})
  .describe('What of the tenant’s objects is copied to the host')
