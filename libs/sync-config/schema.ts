import { z } from 'zod'
import { enabledAuto } from './fields.ts'
import { fromHost } from './from-host.ts'
import { toHost } from './to-host.ts'

const networking = z
  .strictObject({
    apiServer: z
      .strictObject({
        host: z
          .string()
          .min(1)
          .optional()
          .describe('Address at which pods reach the tenant’s API; without it they are told none')
          .meta({ examples: ['10.96.0.20'] }),
        port: z
          .int()
          .min(1)
          .max(65535)
          .default(443)
          .describe('Its port')
          .meta({ examples: [6443] }),
      })
      .prefault({})
      .describe('The tenant’s API, as its pods see it'),
    dns: z
      .strictObject({
        enabled: enabledAuto(
          'The tenant has a DNS of its own, which its pods use and wait for. `auto`: where an address is given',
        ),
        address: z
          .string()
          .min(1)
          .optional()
          .describe('IP of that DNS on the host; without it, the host’s address of `service`')
          .meta({ examples: ['10.96.0.30'] }),
        service: z
          .string()
          .regex(/^[^/]+\/[^/]+$/, 'must be NAMESPACE/NAME')
          .default('kube-system/kube-dns')
          .describe('The tenant’s Service that answers DNS')
          .meta({ examples: ['dns/coredns'] }),
      })
      .prefault({})
      .describe('DNS of the tenant’s pods'),
    advanced: z
      .strictObject({
        clusterDomain: z
          .string()
          .min(1)
          .default('cluster.local')
          .describe('Domain of the tenant’s cluster')
          .meta({ examples: ['tenant.internal'] }),
      })
      .prefault({})
      .describe('Further options'),
  })
  .prefault({})
  .describe('How pods reach what they need')

const policies = z
  .strictObject({
    podSecurityStandard: z
      .enum(['privileged', 'baseline', 'restricted'])
      .default('baseline')
      .describe('Pod Security Standard that the tenant’s pods must keep to be run on the host')
      .meta({ examples: ['restricted'] }),
  })
  .prefault({})
  .describe('What a tenant may do')

const toleration = z.strictObject({
  key: z
    .string()
    .optional()
    .describe('Key of the taint; none with Exists: all taints')
    .meta({ examples: ['dedicated'] }),
  operator: z
    .enum(['Equal', 'Exists'])
    .default('Equal')
    .describe('How the value is compared')
    .meta({ examples: ['Exists'] }),
  value: z
    .string()
    .optional()
    .describe('Value of the taint, with Equal')
    .meta({ examples: ['team-a'] }),
  effect: z
    .enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
    .optional()
    .describe('Effect of the taint; none: all effects')
    .meta({ examples: ['NoSchedule'] }),
  tolerationSeconds: z
    .int()
    .optional()
    .describe('How long NoExecute is tolerated, in seconds')
    .meta({ examples: [60] }),
})

const nodes = z
  .strictObject({
    model: z
      .enum(['shared', 'dedicated', 'private'])
      .default('shared')
      .describe(
        '`shared`: pods run on any host node. `dedicated`: on those of `selector` alone, and the tenant sees no others. `private`: the tenant has nodes of its own, and no workload crosses',
      )
      .meta({ examples: ['dedicated'] }),
    selector: z
      .record(z.string(), z.string())
      .default({})
      .describe('Labels of the nodes of a `dedicated` tenant')
      .meta({ examples: [{ 'example.com/tenant': 'team-a' }] }),
    tolerations: z
      .array(toleration)
      .default([])
      .describe('Tolerations that the pods of a `dedicated` tenant get')
      .meta({ examples: [[{ key: 'dedicated', value: 'team-a', effect: 'NoSchedule' }]] }),
  })
  .prefault({})
  .describe('Where the tenant’s pods run')

const owner = z
  .strictObject({
    apiVersion: z
      .string()
      .min(1)
      .describe('API version of the owner')
      .meta({ examples: ['v1'] }),
    kind: z
      .string()
      .min(1)
      .describe('Kind of the owner')
      .meta({ examples: ['Service'] }),
    name: z
      .string()
      .min(1)
      .describe('Name of the owner, in the tenant’s host namespace')
      .meta({ examples: ['team-a'] }),
    uid: z
      .string()
      .min(1)
      .describe('Its uid')
      .meta({ examples: ['0b8f2c5e-6a0e-4a7b-9a57-2f0a5a0f3c11'] }),
  })
  .describe('Host object that the tenant’s copies go with when it is deleted')

/** A tenant's configuration as written. What has a default may be left out. */
export const tenantConfigSchema = z
  .strictObject({
    sync: z.strictObject({ toHost, fromHost }).prefault({}).describe('What crosses'),
    networking,
    policies,
    nodes,
    workloadServiceAccount: z
      .string()
      .min(1)
      .default('default')
      .describe('ServiceAccount on the host that the tenant’s pods run under')
      .meta({ examples: ['tenant-workload'] }),
    reservedLabels: z
      .array(z.string())
      .default([])
      .describe('Label keys that do not cross under their own name')
      .meta({ examples: [['release']] }),
    owner: owner.optional(),
  })
  .describe('Configuration of a Causeway tenant')
