import type { Direction, TenantConfig } from './tenant-config.ts'

type ToHost = TenantConfig['sync']['toHost']
type FromHost = TenantConfig['sync']['fromHost']
type GatewayApiKey = {
  [K in keyof ToHost['gatewayApi']]: ToHost['gatewayApi'][K] extends { enabled: boolean } ? K : never
}[keyof ToHost['gatewayApi']]

/** Key of a kind that crosses to the host, as below `sync.toHost`; Gateway API kinds as `gatewayApi.httpRoutes`. */
export type ToHostKey = Exclude<keyof ToHost, 'customResources' | 'gatewayApi'> | `gatewayApi.${GatewayApiKey}`
/** Key of a kind that the tenant sees of the host, as below `sync.fromHost`. */
export type FromHostKey = Exclude<keyof FromHost, 'customResources'>

/** Options that any kind has. */
export type KindConfig = { readonly enabled: boolean; readonly patches: ToHost['services']['patches'] }

/** The options of a kind, by the same keys as {@link isEnabled}; a custom resource's by `plural.group`. */
function kindConfig(config: TenantConfig, direction: Direction, key: string): KindConfig | undefined {
  const kinds: Readonly<Record<string, unknown>> = config.sync[direction]
  if (key.startsWith('gatewayApi.') && direction === 'toHost') {
    const gatewayApi: Readonly<Record<string, unknown>> = config.sync.toHost.gatewayApi
    return asKind(own(gatewayApi, key.slice('gatewayApi.'.length)))
  }
  return key === 'customResources'
    ? undefined
    : (asKind(own(kinds, key)) ?? customResourceConfig(config, direction, key))
}

/**
 * Whether a kind crosses. With the `private` node model nothing crosses to the host, and so no events come back.
 * @param key as in {@link ToHostKey} or {@link FromHostKey}, or a custom resource's `plural.group`; an unknown key is off
 */
export function isEnabled(config: TenantConfig, direction: 'toHost', key: ToHostKey | `${string}.${string}`): boolean
export function isEnabled(
  config: TenantConfig,
  direction: 'fromHost',
  key: FromHostKey | `${string}.${string}`,
): boolean
export function isEnabled(config: TenantConfig, direction: Direction, key: string): boolean {
  if (config.nodes.model === 'private' && (direction === 'toHost' || key === 'events')) return false
  return kindConfig(config, direction, key)?.enabled ?? false
}

/** A custom resource may be configured with a version behind its group. */
function customResourceConfig(config: TenantConfig, direction: Direction, resource: string): KindConfig | undefined {
  const configured: Readonly<Record<string, KindConfig>> = config.sync[direction].customResources
  const key = Object.keys(configured).find((each) => each === resource || each.startsWith(`${resource}/`))
  return key === undefined ? undefined : configured[key]
}

function own(kinds: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(kinds, key) ? kinds[key] : undefined
}

function asKind(value: unknown): KindConfig | undefined {
  return typeof value === 'object' && value !== null && 'enabled' in value ? (value as KindConfig) : undefined
}
