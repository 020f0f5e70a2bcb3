import { cloneJson } from '#libs/kernel'
import type { JsonObject } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { asName, asObject, objectsIn } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'
import { hostRefOf } from '../../names.ts'
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
    const translated = hostHolder(site, tenant)
    for (const field of ['name', 'namespace'] as const) {
      const value = translated[field]
      if (value === undefined) delete site.holder[field]
      else site.holder[field] = value
    }
  }
  // Routes of all the tenant's namespaces are in one on the host; which may attach was asked above.
  for (const listener of objectsIn(spec.listeners)) confineRoutes(listener)
  const fields: JsonObject = { ...cloneJson(contentOf(virtual)), spec }
  return { kind: 'content', fields }
}

/** A reference as it stands on the host: in the copy's own namespace. */
export function hostHolder(site: Site, tenant: TenantContext): JsonObject {
  const ref = refOfSite(site)
  const { namespace: _namespace, ...rest } = cloneJson(site.holder)
  return ref === undefined ? rest : { ...rest, name: hostRefOf(ref, tenant).name }
}

function confineRoutes(listener: JsonObject): void {
  const allowed = asObject(listener.allowedRoutes)
  if (asObject(allowed?.namespaces) === undefined || allowed === undefined) return
  allowed.namespaces = { from: 'Same' }
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
