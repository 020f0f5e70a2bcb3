import { isRecord, valueAt } from './json-path.ts'

/** A key of a `vcluster.yaml` that has no place in our schema. */
export type ForeignKey = {
  path: readonly string[]
  /** When its value is refused, and what to do instead. Without it the key has no meaning here. */
  refused?: { when: (value: unknown) => boolean; instead: string }
}

/** Keys that a `vcluster.yaml` may have besides ours. The more special ones come before those that contain them. */
export const FOREIGN_KEYS: readonly ForeignKey[] = [
  key('sync.toHost.pods.useSecretsForSATokens'),
  key('sync.toHost.pods.rewriteHosts.initContainer'),
  key('sync.toHost.gatewayApi.patches', whenAny('give gateways, httpRoutes and so on patches of their own')),
  key('sync.toHost.pods.hybridScheduling', whenOn('pods are always scheduled by the host')),
  key(
    'sync.fromHost.nodes.syncBackChanges',
    whenOn('a tenant cannot change nodes of the host: label and taint them there'),
  ),
  key(
    'sync.fromHost.gateways',
    whenOn('host Gateways are not imported: create Gateways in the tenant, sync.toHost.gatewayApi'),
  ),

  key('networking.replicateServices', whenAny('Services are not replicated between host and tenant')),
  key('networking.resolveDNS', whenAny('configure the DNS that the tenant uses instead')),
  key(
    'networking.advanced.fallbackHostCluster',
    whenOn('host names cannot be looked up by tenants: add the host’s DNS to that of the tenant instead'),
  ),
  key('networking.advanced.proxyKubelets'),
  key('networking.podCIDR'),

  key('policies.resourceQuota', whenOn('create the ResourceQuota in the tenant’s host namespace instead')),
  key('policies.limitRange', whenOn('create the LimitRange in the tenant’s host namespace instead')),
  key('policies.networkPolicy', whenOn('create NetworkPolicies in the tenant’s host namespace instead')),
  key('policies.centralAdmission', whenAny('register the webhooks with the tenant’s API instead')),

  key('controlPlane.advanced.virtualScheduler', whenOn('pods are always scheduled by the host')),
  key('controlPlane.distro.k8s.scheduler.enabled', whenOn('pods are always scheduled by the host')),
  key('controlPlane.hostPathMapper', whenOn('host paths are not mapped: read logs through the tenant’s API')),
  key('controlPlane'),

  key('integrations.metricsServer', whenOn('metrics of the host are not passed on')),
  ...['certManager', 'externalSecrets', 'istio', 'kubeVirt', 'netris', 'argoCD'].map((name) =>
    key(
      `integrations.${name}`,
      whenOn('sync its kinds by sync.toHost.customResources and sync.fromHost.customResources'),
    ),
  ),
  key('integrations'),
  key('plugins', whenAny('plugins of vCluster do not run here')),
  key('plugin', whenAny('plugins of vCluster do not run here')),
  key(
    'experimental.denyProxyRequests',
    whenAny('there is no proxy before the tenant’s API: use RBAC or admission there'),
  ),
  key('experimental.proxy', whenAny('custom resources are not passed on to other tenants')),
  key('experimental'),
  key('sleepMode', whenOn('tenants are not put to sleep')),
  key('sleep', whenAny('tenants are not put to sleep')),
  key('snapshots', whenAny('no snapshots are taken: back up the tenant’s cluster itself')),
  key('deletion', whenAny('tenants are not deleted by themselves')),
  key('privateNodes'),

  ...['global', 'exportKubeConfig', 'deploy', 'rbac', 'telemetry', 'logging', 'platform', 'external', 'pro'].map(
    (name) => key(name),
  ),
  key('serviceCIDR'),
]

function key(path: string, refused?: ForeignKey['refused']): ForeignKey {
  return { path: path.split('.'), ...(refused === undefined ? {} : { refused }) }
}

/** Refuses `true` and `{ enabled: true }`; what says `auto` follows something that is off. */
function whenOn(instead: string): NonNullable<ForeignKey['refused']> {
  return { when: isOn, instead }
}

/** Refuses what has any value that is not empty. */
function whenAny(instead: string): NonNullable<ForeignKey['refused']> {
  return { when: hasContent, instead }
}

function isOn(value: unknown): boolean {
  const on = isRecord(value) ? valueAt(value, ['enabled']) : value
  return on === true || on === 'true'
}

function hasContent(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (isRecord(value)) return Object.values(value).some(hasContent)
  return value !== undefined && value !== '' && value !== false
}
