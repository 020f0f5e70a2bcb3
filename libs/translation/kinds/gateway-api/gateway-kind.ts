import { RESOURCES, type ResourceInfo } from '#libs/kube-model'
import { type ToHostKey, isEnabled } from '#libs/sync-config'
import type { Kind } from '../../kind.ts'
import { ownedKind } from '../owned-kind.ts'
import { denial } from './permission.ts'
import { GATEWAYS, GRANTS, gatewayReferences, sitesIn } from './references.ts'
import { gatewayStatus } from './status.ts'
import { gatewayContent } from './translate.ts'

/**
 * A kind of the Gateway API that refers to others: references are translated, once the tenant's own Gateways and
 * ReferenceGrants permit them, and the copy goes where they no longer do.
 */
export function gatewayKind(options: { resource: ResourceInfo; version: number; key: ToHostKey }): Kind {
  const { resource, version, key } = options
  return ownedKind({
    resource,
    version,
    isEnabled: (config) => isEnabled(config, 'toHost', key),
    reads: [RESOURCES[GRANTS], RESOURCES[GATEWAYS]],
    refersTo: ['secrets', 'configmaps'],
    references: ({ virtual }) => (virtual === undefined ? [] : gatewayReferences(virtual)),
    followsReferences: [GATEWAYS, GRANTS, 'namespaces'],
    // Nothing is done while what would permit a reference may only not have been seen yet.
    excluded: (virtual, related) => {
      const from = { kind: resource.kind, namespace: virtual.metadata.namespace ?? '' }
      const sites = sitesIn(virtual.spec, from.namespace)
      const denials = sites.flatMap((site) => denial(site, { from, related }) ?? [])
      return denials.some(({ message }) => message === undefined) ? 'unknown' : false
    },
    content: (input) => gatewayContent(input, resource.kind),
    whenRejected: 'delete',
    status: gatewayStatus,
  })
}
