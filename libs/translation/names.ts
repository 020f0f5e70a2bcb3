import { sha256Hex } from '#libs/kernel'
import type { ObjectRef } from '#libs/kube-model'
import type { TenantConfig } from '#libs/sync-config'

/** Host names are DNS labels at most: 63 bytes also fit label values and Service names. */
const MAX_BYTES = 63
const HASH_DIGITS = 10
const SEPARATOR = '-x-'
/** DNS-1123 subdomain: what every name that may stay readable looks like. */
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/**
 * The name of an object's host copy: `<name>-x-<namespace>-x-<tenant>`, or `causeway-<name>-x-<tenant>` for an object
 * without namespace. Where that is longer than 63 bytes or can be read in more than one way, its beginning and a hash
 * of the parts. Different objects have different names (up to a collision of 40 bits of SHA-256, which the writer
 * answers with `NameConflict`); the way back leads over the stamps, never over parsing.
 * @param tenant the tenant's name
 */
export function hostName(ref: Pick<ObjectRef, 'namespace' | 'name'>, tenant: string): string {
  const namespaced = ref.namespace !== ''
  const joined = namespaced
    ? ref.name + SEPARATOR + ref.namespace + SEPARATOR + tenant
    : `causeway-${ref.name}${SEPARATOR}${tenant}`
  // Code units are bytes once the expression has matched: it admits ASCII only.
  const readable = joined.length <= MAX_BYTES && subdomain.test(joined)
  if (readable && countSeparators(joined) === (namespaced ? 2 : 1)) return joined
  const digest = sha256Hex(`${ref.name}\0${ref.namespace}\0${tenant}`).slice(0, HASH_DIGITS)
  return `${prefixOf(joined)}-${digest}`
}

/** Where the host copy of a tenant's object is. Copies of objects without namespace have none either. */
export function hostRefOf(ref: ObjectRef, tenant: TenantPlace): ObjectRef {
  const isNamespace = ref.resource === 'namespaces' && ref.namespace === ''
  return {
    resource: ref.resource,
    namespace: ref.namespace === '' ? '' : hostNamespaceFor(ref.namespace, tenant),
    name: isNamespace ? hostNamespaceName(ref.name, tenant) : hostName(ref, tenant.name),
  }
}

/** What of a tenant says where its copies are. */
export type TenantPlace = {
  name: string
  /** Where all its copies are, unless each of its namespaces has one of its own on the host. */
  hostNamespace: string
  /** @default that of a tenant whose copies are all in its host namespace */
  config?: TenantConfig
}

/**
 * The host namespace of the copies of what is in one of the tenant's namespaces: the tenant's only one, or with
 * `sync.toHost.namespaces` the one that stands for this namespace.
 */
export function hostNamespaceFor(namespace: string, tenant: TenantPlace): string {
  return hasOwnNamespaces(tenant) ? hostNamespaceName(namespace, tenant) : tenant.hostNamespace
}

/** Whether each of the tenant's namespaces has a host namespace of its own. */
export function hasOwnNamespaces({ config }: Pick<TenantPlace, 'config'>): boolean {
  return config?.sync.toHost.namespaces.enabled === true
}

/** Whether the configuration names the host namespace that stands for this one. */
export function isNamespaceMapped(namespace: string, { config }: Pick<TenantPlace, 'config'>): boolean {
  return mappedNamespace(namespace, config) !== undefined
}

/** The name of the copy of a namespace. */
function hostNamespaceName(namespace: string, { name, config }: TenantPlace): string {
  return mappedNamespace(namespace, config) ?? hostName({ namespace: '', name: namespace }, name)
}

function mappedNamespace(namespace: string, config: TenantConfig | undefined): string | undefined {
  const byName: Readonly<Record<string, string>> = config?.sync.toHost.namespaces.mappings.byName ?? {}
  if (Object.hasOwn(byName, namespace)) return byName[namespace]
  for (const [from, to] of Object.entries(byName)) {
    const [before, after] = from.split('*')
    if (before === undefined || after === undefined) continue
    const isMatch = namespace.length > before.length + after.length
    if (!isMatch || !namespace.startsWith(before) || !namespace.endsWith(after)) continue
    return to.replace('*', () => namespace.slice(before.length, namespace.length - after.length))
  }
  return undefined
}

/** What is left of a joined name before its hash: valid characters only, ending in a letter or digit. */
function prefixOf(joined: string): string {
  const valid = joined.replace(/[^-.a-z0-9]/g, '-').replace(/^[-.]+/, '')
  const cut = valid.slice(0, MAX_BYTES - HASH_DIGITS - 1).replace(/[-.]+$/, '')
  // A dot next to a dash or a dot would make an empty or invalid label.
  return cut.replace(/-*\.[-.]*/g, '.')
}

/** Occurrences of the separator, overlaps counted: `-x-x-` holds two. */
function countSeparators(text: string): number {
  let count = 0
  for (let at = text.indexOf(SEPARATOR); at !== -1; at = text.indexOf(SEPARATOR, at + 1)) count++
  return count
}

/**
 * Why a tenant cannot have this name, as a sentence; `undefined` when it can. A tenant's name is a DNS label of at
 * most 40 characters without `-x-`, so that it leaves room in host names and cannot be read as part of another.
 */
export function tenantNameProblem(name: string): string | undefined {
  if (name === '') return 'a tenant needs a name'
  if (name.length > 40) return `tenant name "${name}" is longer than 40 characters`
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name)) {
    return `tenant name "${name}" is no DNS label: use lower-case letters, digits and inner dashes`
  }
  if (name.includes(SEPARATOR))
    return `tenant name "${name}" contains "${SEPARATOR}", which separates the parts of host names`
  return undefined
}
