import type { JsonObject } from '#libs/kube-model'
import { asName, objectsIn, textOf } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'
import { specOf } from './fields.ts'

/**
 * Adds to a pod's hosts file where the tenant's API is, and the pod's own full name. The pod's own entries come first
 * and so win. Changes `spec`, which is the copy's.
 */
export function addHostAliases(spec: JsonObject, input: TranslateInput): void {
  const aliases = [...apiAlias(input), ...ownAlias(spec, input)]
  if (aliases.length > 0) spec.hostAliases = [...objectsIn(spec.hostAliases), ...aliases]
}

function apiAlias({ tenant }: TranslateInput): JsonObject[] {
  const { apiServer, advanced } = tenant.config.networking
  if (apiServer.host === undefined || !isAddress(apiServer.host)) return []
  const name = 'kubernetes.default'
  const hostnames = [`${name}.svc.${advanced.clusterDomain}`, 'kubernetes', name, `${name}.svc`]
  return [{ ip: apiServer.host, hostnames }]
}

/**
 * A pod's address is not known when its hosts file is settled, and no init container is to write to it. With a DNS of
 * its own the tenant resolves the name by the headless Service that `subdomain` names; without, nothing does, and the pod
 * at least finds itself.
 */
function ownAlias(spec: JsonObject, { virtual, tenant }: TranslateInput): JsonObject[] {
  const { networking, sync } = tenant.config
  const subdomain = asName(specOf(virtual).subdomain)
  if (subdomain === undefined || networking.dns.enabled || !sync.toHost.pods.rewriteHosts.enabled) return []
  const domain = `${subdomain}.${virtual.metadata.namespace ?? ''}.svc.${networking.advanced.clusterDomain}`
  return [{ ip: '127.0.0.1', hostnames: [`${textOf(spec.hostname)}.${domain}`] }]
}

/** Hosts files know addresses only. */
function isAddress(host: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(host) || (host.includes(':') && /^[0-9a-fA-F:.]+$/.test(host))
}
