import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asName, asObject, objectsIn, stringMap, textOf } from '../../json.ts'
import { matchesSelector } from '../../match-selector.ts'
import type { Related } from '../../view.ts'
import { GATEWAYS, GATEWAY_GROUP, GRANTS, type Site, refOfSite } from './references.ts'

/** Why a reference is not permitted; without a message, that it cannot be told yet. */
export type Denial = { message?: string }

export type Judged = {
  /** The object that holds the references. */
  from: { kind: string; namespace: string }
  related: Related
}

/**
 * Why a reference is not permitted in the tenant, `undefined` where it is. On the host all is in one namespace, so that
 * nothing there would ask.
 */
export function denial(site: Site, judged: Judged): Denial | undefined {
  if (site.field === 'parentRefs') return attachmentDenial(site, judged)
  return site.namespace === judged.from.namespace ? undefined : grantDenial(site, judged)
}

function grantDenial(site: Site, { from, related }: Judged): Denial | undefined {
  const grants = related.virtualIn(GRANTS, site.namespace)
  if (grants.some((grant) => permits(grant, { from, site }))) return undefined
  if (!related.synced('virtual', GRANTS)) return {}
  const what = `${from.kind} of ${from.namespace} refer to ${site.kind} ${site.name}`
  return { message: `no ReferenceGrant in ${site.namespace} lets ${what}` }
}

function permits(grant: KubeObject, { from, site }: { from: Judged['from']; site: Site }): boolean {
  const spec = asObject(grant.spec)
  const isFrom = objectsIn(spec?.from).some(
    ({ group, kind, namespace }) => group === GATEWAY_GROUP && kind === from.kind && namespace === from.namespace,
  )
  const isTo = objectsIn(spec?.to).some(
    ({ group, kind, name }) =>
      (group ?? '') === site.group && kind === site.kind && (asName(name) ?? site.name) === site.name,
  )
  return isFrom && isTo
}

/** A route may attach to a listener that admits its namespace; a Service as parent must be of its own. */
function attachmentDenial(site: Site, { from, related }: Judged): Denial | undefined {
  const ref = refOfSite(site)
  if (ref === undefined) return undefined
  if (ref.resource !== GATEWAYS) {
    return site.namespace === from.namespace
      ? undefined
      : { message: `a ${site.kind} of another namespace cannot be the parent` }
  }
  const gateway = related.virtual(ref)
  if (gateway === undefined) {
    return related.synced('virtual', GATEWAYS) ? { message: `there is no Gateway ${ref.namespace}/${ref.name}` } : {}
  }
  const namespace = { resource: 'namespaces', namespace: '', name: from.namespace }
  const isKnown = related.virtual(namespace) !== undefined || related.synced('virtual', 'namespaces')
  if (ref.namespace !== from.namespace && !isKnown) return {}
  const { sectionName, port } = site.holder
  const listeners = objectsIn(asObject(gateway.spec)?.listeners).filter(
    (listener) =>
      (sectionName === undefined || listener.name === sectionName) && (port === undefined || listener.port === port),
  )
  // On the host the route attaches to all that it names: one that does not let it would then serve it too.
  const closed = listeners.find((listener) => !admits(listener, { gateway: ref.namespace, from, related }))
  if (listeners.length > 0 && closed === undefined) return undefined
  const of = `Gateway ${ref.namespace}/${ref.name}`
  if (closed === undefined) return { message: `${of} has no such listener` }
  const what = `listener ${textOf(closed.name)} of ${of} does not let routes of ${from.namespace} attach`
  return { message: `${what}; name others by sectionName` }
}

function admits(listener: JsonObject, context: Judged & { gateway: string }): boolean {
  const { from, related, gateway } = context
  const namespaces = asObject(asObject(listener.allowedRoutes)?.namespaces)
  switch (asName(namespaces?.from) ?? 'Same') {
    case 'Same':
      return gateway === from.namespace
    case 'All':
      return true
    case 'Selector':
      return matchesSelector(labelsOf(from.namespace, related), namespaces?.selector)
    default:
      return false
  }
}

function labelsOf(namespace: string, related: Related): Record<string, string> {
  return stringMap(related.virtual({ resource: 'namespaces', namespace: '', name: namespace })?.metadata.labels)
}
