import { cloneJson } from '#libs/kernel'
import type { JsonObject } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { asName, asObject, objectsIn } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'
import { hasOwnNamespaces, hostNamespaceFor, hostRefOf } from '../../names.ts'
import { contentOf } from '../../owned-fields.ts'
import { LABELS } from '../../stamps.ts'
import type { TenantContext } from '../../view.ts'
import type { Content } from '../owned-kind.ts'
import { denial } from './permission.ts'
import { type Site, refOfSite, sitesIn, specCopy } from './references.ts'

/** The content of a copy, with all references translated; or why one cannot be, or is not permitted in the tenant. */
export function gatewayContent(input: TranslateInput, kind: string): Content {
  const { virtual, tenant, related } = input
  const namespace = virtual.metadata.namespace ?? ''
  const spec = specCopy(virtual)
  const from = { kind, namespace }
  const unknownClass = missingClass(spec, input)
  if (unknownClass !== undefined) return { kind: 'reject', reason: 'UnknownClass', message: unknownClass }
  for (const site of sitesIn(spec, namespace)) {
    if (refOfSite(site) === undefined) {
      const what = `${site.field} to ${site.kind}${site.group === '' ? '' : `.${site.group}`}`
      return { kind: 'reject', reason: 'Unsupported', message: `${what} has no counterpart on the host` }
    }
    const denied = denial(site, { from, related })
    if (denied !== undefined) {
      const { message = `it is not known yet whether ${site.field} is permitted` } = denied
      return { kind: 'reject', reason: 'ReferenceNotPermitted', message }
    }
    const translated = hostHolder(site, { tenant, namespace })
    for (const field of ['name', 'namespace'] as const) {
      const value = translated[field]
      if (value === undefined) delete site.holder[field]
      else site.holder[field] = value
    }
  }
  // Which routes may attach is asked of each, above; here they need only be the tenant's.
  for (const listener of objectsIn(spec.listeners)) confineRoutes(listener, tenant)
  const fields: JsonObject = { ...cloneJson(contentOf(virtual)), spec }
  return { kind: 'content', fields }
}

/** A reference as it stands on the host, in the copy of an object of this namespace: where it is at home, none is named. */
export function hostHolder(site: Site, from: { tenant: TenantContext; namespace: string }): JsonObject {
  const ref = refOfSite(site)
  const { namespace: _namespace, ...rest } = cloneJson(site.holder)
  if (ref === undefined) return rest
  const { name, namespace } = hostRefOf(ref, from.tenant)
  const isElsewhere = namespace !== hostNamespaceFor(from.namespace, from.tenant)
  return { ...rest, name, ...(isElsewhere ? { namespace } : {}) }
}

/**
 * Lets the routes of the tenant attach, and nobody else's: those of its host namespaces, or where there is but one, of
 * that.
 */
function confineRoutes(listener: JsonObject, tenant: TenantContext): void {
  const allowed = asObject(listener.allowedRoutes)
  const namespaces = asObject(allowed?.namespaces)
  if (allowed === undefined || namespaces === undefined) return
  if (!hasOwnNamespaces(tenant)) allowed.namespaces = { from: 'Same' }
  else if (namespaces.from === 'All' || namespaces.from === 'Selector') {
    allowed.namespaces = { from: 'Selector', selector: { matchLabels: { [LABELS.tenant]: tenant.name } } }
  }
}

/** Where the tenant sees the host's classes, it may use those and no others. */
function missingClass(spec: JsonObject, { tenant, related }: TranslateInput): string | undefined {
  const name = asName(spec.gatewayClassName)
  if (name === undefined || !isEnabled(tenant.config, 'fromHost', 'gatewayClasses')) return undefined
  const resource = 'gatewayclasses.gateway.networking.k8s.io'
  const found = related.virtual({ resource, namespace: '', name })
  return found?.metadata.labels?.[LABELS.mirror] === 'true'
    ? undefined
    : `the host has no gateway class "${name}" for you`
}
