import { z } from 'zod'
import {
  autoSwitch,
  classSwitch,
  enabled,
  enabledAuto,
  kindSwitch,
  labelSelector,
  mappedSwitch,
  mappings,
  patches,
} from './fields.ts'

const nodes = z
  .strictObject({
    enabled: enabled(
      false,
      'Mirror real nodes; otherwise nodes that have the tenant’s pods appear with made-up capacity',
    ),
    clearImageStatus: z
      .boolean()
      .default(false)
      .describe('Hide which images a node has')
      .meta({ examples: [true] }),
    selector: z
      .strictObject({
        all: z
          .boolean()
          .default(false)
          .describe('All nodes, not only those with the tenant’s pods')
          .meta({ examples: [true] }),
        labels: z
          .record(z.string(), z.string())
          .default({})
          .describe('Nodes with these labels, and pods are kept on them')
          .meta({ examples: [{ 'example.com/pool': 'tenants' }] }),
      })
      .prefault({})
      .describe('Which nodes'),
    patches,
  })
  .prefault({})
  .describe('Nodes')

const customResource = z.strictObject({
  enabled: enabled(false, 'The tenant sees host objects of this kind; it gets the host’s definition'),
  scope: z
    .enum(['Namespaced', 'Cluster'])
    .describe('Whether objects of this kind are in namespaces; those that are need `mappings`')
    .meta({ examples: ['Cluster'] }),
  selector: labelSelector,
  mappings,
  patches,
})

const byRule = 'stay off with `auto`, as the tenant has no scheduler of its own'

/** What of the host's objects the tenant sees, read only. */
export const fromHost = z
  .strictObject({
    nodes,
    events: kindSwitch(true, 'Events about the tenant’s objects on the host'),
    ingressClasses: classSwitch('IngressClasses'),
    priorityClasses: classSwitch('PriorityClasses of the host'),
    runtimeClasses: classSwitch('RuntimeClasses'),
    storageClasses: z
      .strictObject({
        enabled: enabledAuto(`StorageClasses of the host; ${byRule}`),
        selector: labelSelector,
        patches,
      })
      .prefault({})
      .describe('StorageClasses of the host'),
    gatewayClasses: classSwitch('GatewayClasses; on as well where `sync.toHost.gatewayApi.enabled` is'),
    deviceClasses: classSwitch('DeviceClasses'),
    volumeSnapshotClasses: classSwitch('VolumeSnapshotClasses'),
    csiNodes: autoSwitch(`CSINodes; ${byRule}`),
    csiDrivers: autoSwitch(`CSIDrivers; ${byRule}`),
    csiStorageCapacities: autoSwitch(`CSIStorageCapacities; ${byRule}`),
    configMaps: mappedSwitch('ConfigMaps of the host, by name'),
    secrets: mappedSwitch('Secrets of the host, by name'),
    customResources: z
      .record(z.string(), customResource)
      .default({})
      .describe('Custom resources, by `plural.group` or `plural.group/version`')
      .meta({ examples: [{ 'clusterissuers.cert-manager.io': { enabled: true, scope: 'Cluster' } }] }),
  })
  .prefault({})
  .describe('What of the host’s objects the tenant sees')
