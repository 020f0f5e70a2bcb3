import type { ObjectRef } from '#libs/kube-model'
import type { TenantContext } from '../../view.ts'

/** Host objects by `namespace/name`, and where they appear in the tenant; see `sync.fromHost.configMaps.mappings`. */
export type ByName = Readonly<Record<string, string>>

type Name = Pick<ObjectRef, 'namespace' | 'name'>
type Entry = { from: Name; to: Name }

const ALL = '*'

/** Where an object of the host appears in the tenant: an entry that names it goes before one for its whole namespace. */
export function shownAs(
  byName: ByName,
  original: Name,
  tenant: Pick<TenantContext, 'hostNamespace'>,
): Name | undefined {
  const entries = entriesOf(byName, tenant).filter(({ from }) => from.namespace === original.namespace)
  const exact = entries.find(({ from }) => from.name === original.name)
  const entry = exact ?? entries.find(({ from }) => from.name === ALL)
  if (entry === undefined) return undefined
  return { namespace: entry.to.namespace, name: entry.to.name === ALL ? original.name : entry.to.name }
}

/** The host object that appears in the tenant under this name. */
export function originalOf(byName: ByName, copy: Name, tenant: Pick<TenantContext, 'hostNamespace'>): Name | undefined {
  const entries = entriesOf(byName, tenant).filter(({ to }) => to.namespace === copy.namespace)
  const named = entries.filter(({ to }) => to.name === copy.name)
  const candidates = [...named, ...entries.filter(({ to }) => to.name === ALL)].map(({ from }) => ({
    namespace: from.namespace,
    name: from.name === ALL ? copy.name : from.name,
  }))
  return candidates.find((original) => {
    const shown = shownAs(byName, original, tenant)
    return shown?.namespace === copy.namespace && shown.name === copy.name
  })
}

/** The host namespaces that the mapping speaks of. */
export function mappedNamespaces(byName: ByName, tenant: Pick<TenantContext, 'hostNamespace'>): string[] {
  return [...new Set(entriesOf(byName, tenant).map(({ from }) => from.namespace))]
}

/** An empty namespace stands for the tenant's own on the host, and an empty name for all of it. */
function entriesOf(byName: ByName, { hostNamespace }: Pick<TenantContext, 'hostNamespace'>): Entry[] {
  return Object.entries(byName).map(([from, to]) => {
    const [namespace = '', name = ''] = from.split('/')
    const [toNamespace = '', toName = ''] = to.split('/')
    return {
      from: { namespace: namespace || hostNamespace, name: name || ALL },
      to: { namespace: toNamespace, name: toName },
    }
  })
}
