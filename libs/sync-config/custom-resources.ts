import type { SelectorConfig, TenantConfig } from './tenant-config.ts'

/** A kind of custom resources as a tenant's configuration names it. */
export type CustomResource = {
  /** `plural.group`. */
  resource: string
  plural: string
  group: string
  /** Absent where the API is to say which version it prefers. */
  version?: string
  namespaced: boolean
  enabled: boolean
}

/** One that the tenant sees of the host. */
export type MirroredCustomResource = CustomResource & {
  selector: SelectorConfig
  /** Host objects, as `namespace/name`, and where they appear in the tenant; see `mappings` of the schema. */
  byName: Readonly<Record<string, string>>
}

type ByDirection = { toHost: CustomResource[]; fromHost: MirroredCustomResource[] }

const known = new WeakMap<TenantConfig, ByDirection>()

/** The kinds of custom resources that a configuration names, switched on or not. With private nodes none cross to the host. */
export function customResources(config: TenantConfig): ByDirection {
  const before = known.get(config)
  if (before !== undefined) return before
  const { toHost, fromHost } = config.sync
  const isPrivate = config.nodes.model === 'private'
  const found: ByDirection = {
    toHost: Object.entries(toHost.customResources).map(([key, { enabled, scope }]) => ({
      ...parts(key),
      enabled: enabled && !isPrivate,
      namespaced: scope === 'Namespaced',
    })),
    fromHost: Object.entries(fromHost.customResources).map(([key, { enabled, scope, selector, mappings }]) => ({
      ...parts(key),
      enabled,
      namespaced: scope === 'Namespaced',
      selector,
      byName: mappings.byName,
    })),
  }
  known.set(config, found)
  return found
}

function parts(key: string): Pick<CustomResource, 'resource' | 'plural' | 'group' | 'version'> {
  const [resource = '', version] = key.split('/')
  const dot = resource.indexOf('.')
  const plural = resource.slice(0, dot)
  const group = resource.slice(dot + 1)
  return { resource, plural, group, ...(version === undefined ? {} : { version }) }
}
