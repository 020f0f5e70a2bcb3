import { type Direction, type TenantConfig, defaultTenantConfig } from '#libs/sync-config'
import { isCustomResource, kindFor, mirrorFor } from '#libs/translation'

/** A key of the tenant's configuration on which it depends whether a kind crosses. */
export type SyncSetting = {
  /** As it is written: `sync.toHost.services.enabled`. */
  key: string
  enabled: boolean
  /** Whether the tenant's configuration says so, or nobody does. */
  from: 'configuration' | 'default'
}

/** Whether a kind crosses for a tenant, and what says so. */
export type SyncOfKind = {
  toHost?: { enabled: boolean; settings: SyncSetting[] }
  fromHost?: { enabled: boolean; settings: SyncSetting[] }
}

type Switch = { direction: Direction; path: string[] }

/**
 * Finds out by which keys a kind is switched: those without which it does not cross when all others are on. So no list
 * of them is kept beside the kinds' own code.
 * @param written the configuration as the tenant's administrator wrote it
 */
export function syncOfKind(token: string, config: TenantConfig, written: unknown): SyncOfKind {
  const kind = kindFor(token)
  const mirror = mirrorFor(token)
  const of = (
    each: { isEnabled(config: TenantConfig): boolean } | undefined,
    direction: Direction,
  ): SyncOfKind[Direction] => {
    if (each === undefined) return undefined
    const switches = isCustomResource(token) ? customSwitch(token, config, direction) : switchesOf(each, direction)
    const settings: SyncSetting[] = switches.map(({ path }) => ({
      key: path.join('.'),
      enabled: valueAt(config, path) === true,
      from: valueAt(written, path) === undefined ? 'default' : 'configuration',
    }))
    if (config.nodes.model === 'private' && direction === 'toHost') {
      settings.push({ key: 'nodes.model: private', enabled: false, from: 'configuration' })
    }
    return { enabled: each.isEnabled(config), settings }
  }
  const toHost = of(kind, 'toHost')
  const fromHost = of(mirror, 'fromHost')
  const isMeant = (found: SyncOfKind[Direction]): boolean =>
    found !== undefined && (!isCustomResource(token) || found.settings.length > 0)
  return {
    ...(toHost !== undefined && isMeant(toHost) ? { toHost } : {}),
    ...(fromHost !== undefined && isMeant(fromHost) ? { fromHost } : {}),
  }
}

const found = new WeakMap<object, Switch[]>()

function switchesOf(kind: { isEnabled(config: TenantConfig): boolean }, direction: Direction): Switch[] {
  let known = found.get(kind)
  if (known === undefined) {
    const all = allSwitches()
    const everything = withSwitches(all, () => true)
    known = all.filter((each) => !kind.isEnabled(withSwitches(all, (other) => other !== each, everything)))
    found.set(kind, known)
  }
  // The direction's own first.
  return known.toSorted((a, b) => Number(b.direction === direction) - Number(a.direction === direction))
}

/** Every `enabled` below `sync`. */
function allSwitches(): Switch[] {
  const config = defaultTenantConfig()
  const below = (direction: Direction, path: string[]): Switch[] => {
    const value = valueAt(config, path)
    if (typeof value !== 'object' || value === null) return []
    return Object.keys(value).flatMap((key) => {
      if (key === 'customResources') return []
      if (key === 'enabled') return [{ direction, path: [...path, key] }]
      return path.length < 4 ? below(direction, [...path, key]) : []
    })
  }
  return [...below('toHost', ['sync', 'toHost']), ...below('fromHost', ['sync', 'fromHost'])]
}

function withSwitches(
  switches: readonly Switch[],
  isOn: (each: Switch) => boolean,
  base: TenantConfig = defaultTenantConfig(),
): TenantConfig {
  const config = structuredClone(base)
  for (const each of switches) {
    const parent = valueAt(config, each.path.slice(0, -1)) as { enabled: boolean }
    parent.enabled = isOn(each)
  }
  return config
}

function customSwitch(token: string, config: TenantConfig, direction: Direction): Switch[] {
  const named = Object.keys(config.sync[direction].customResources)
  return named
    .filter((each) => each === token || each.startsWith(`${token}/`))
    .map((each) => ({ direction, path: ['sync', direction, 'customResources', each, 'enabled'] }))
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let inner = value
  for (const key of path) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, key)) return undefined
    inner = (inner as Record<string, unknown>)[key]
  }
  return inner
}
