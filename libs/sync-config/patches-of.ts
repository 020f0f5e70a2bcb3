import type { Direction, PatchConfig, TenantConfig } from './tenant-config.ts'

const NONE: readonly PatchConfig[] = []

/** Configurations never change, so what is found in one is kept with it. */
const found = new WeakMap<TenantConfig, Map<string, readonly PatchConfig[]>>()

/**
 * The patches that a configuration has for a resource.
 * @param resource token such as `pods` or `ingresses.networking.k8s.io`
 */
export function patchesOf(config: TenantConfig, direction: Direction, resource: string): readonly PatchConfig[] {
  let known = found.get(config)
  if (known === undefined) {
    known = new Map()
    found.set(config, known)
  }
  const id = `${direction}/${resource}`
  let patches = known.get(id)
  if (patches === undefined) {
    patches = find(config, direction, resource)
    known.set(id, patches)
  }
  return patches
}

function find(config: TenantConfig, direction: Direction, resource: string): readonly PatchConfig[] {
  const { customResources, ...kinds } = config.sync[direction]
  const custom = Object.entries(customResources).find(([key]) => key === resource || key.startsWith(`${resource}/`))
  if (custom !== undefined) return custom[1].patches
  const [plural = '', ...group] = resource.split('.')
  if (!isBuiltIn(group.join('.'))) return NONE
  // Keys are the plural as Kubernetes writes it in its code: `configMaps`.
  const all = Object.entries({ ...kinds, ...('gatewayApi' in kinds ? kinds.gatewayApi : {}) })
  const kind: unknown = all.find(([key]) => key.toLowerCase() === plural)?.[1]
  return typeof kind === 'object' && kind !== null && 'patches' in kind
    ? (kind.patches as readonly PatchConfig[])
    : NONE
}

/** Whether a group is Kubernetes' own, so that a resource of another that has the same plural is not taken for its. */
function isBuiltIn(group: string): boolean {
  return group === '' || group === 'policy' || group === 'k8s.io' || group.endsWith('.k8s.io')
}
