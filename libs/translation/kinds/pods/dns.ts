import type { Json, JsonObject, KubeObject } from '#libs/kube-model'
import type { TenantConfig } from '#libs/sync-config'
import { asName, asObject, objectsIn } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'
import { hostRefOf } from '../../names.ts'
import { specOf } from './fields.ts'

/** What the API lets a pod's DNS configuration hold. */
const LIMITS = { nameservers: 3, searches: 32, searchCharacters: 2048 }

/**
 * Lets a pod that asks for its cluster's DNS have the tenant's: its address, the search domains of the pod's namespace,
 * and what the pod asks for besides. Without a DNS of the tenant's the host's stays. Changes `spec`, which is the copy's.
 * @returns what it waits for, as a sentence, where the tenant's DNS has no address yet
 */
export function useTenantDns(spec: JsonObject, input: TranslateInput): string | undefined {
  const { networking } = input.tenant.config
  if (!networking.dns.enabled || !usesClusterDns(spec)) return undefined
  const address = networking.dns.address ?? addressOfService(networking.dns.service, input)
  if (address === undefined) return `Service ${networking.dns.service} has no address on the host yet`
  spec.dnsPolicy = 'None'
  spec.dnsConfig = merged(asObject(spec.dnsConfig) ?? {}, {
    nameservers: [address],
    searches: searchDomains(input.virtual, networking.advanced.clusterDomain),
  })
  return undefined
}

/** On the node's network, ClusterFirst means the node's DNS. */
function usesClusterDns(spec: JsonObject): boolean {
  const policy = asName(spec.dnsPolicy) ?? 'ClusterFirst'
  return policy === 'ClusterFirstWithHostNet' || (policy === 'ClusterFirst' && spec.hostNetwork !== true)
}

function addressOfService(service: TenantConfig['networking']['dns']['service'], input: TranslateInput) {
  const [namespace = '', name = ''] = service.split('/')
  const copy = input.related.host(hostRefOf({ resource: 'services', namespace, name }, input.tenant))
  const address = asName(specOf(copy).clusterIP)
  return address === 'None' ? undefined : address
}

function searchDomains(virtual: KubeObject, clusterDomain: string): string[] {
  return [`${virtual.metadata.namespace ?? ''}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain]
}

/** As kubelets merge: ours first, lists cut to what the API takes, an option of the pod's in place of one of ours. */
function merged(own: JsonObject, base: { nameservers: string[]; searches: string[] }): JsonObject {
  const options = objectsIn(own.options)
  const sets = (name: string): boolean => options.some((option) => option.name === name)
  const searches = distinct(base.searches, own.searches).slice(0, LIMITS.searches)
  while (searches.join(' ').length > LIMITS.searchCharacters) searches.pop()
  return {
    ...own,
    nameservers: distinct(base.nameservers, own.nameservers).slice(0, LIMITS.nameservers),
    searches,
    options: [...(sets('ndots') ? [] : [{ name: 'ndots', value: '5' }]), ...options],
  }
}

function distinct(ours: readonly string[], theirs: Json | undefined): string[] {
  const own = Array.isArray(theirs) ? theirs.filter((item) => typeof item === 'string') : []
  return [...new Set([...ours, ...own])]
}
