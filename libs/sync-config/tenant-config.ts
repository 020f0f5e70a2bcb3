import type { z } from 'zod'
import { tenantConfigSchema } from './schema.ts'

/** Deeply readonly, with everything that was left to a rule decided. */
type Resolved<T> = T extends readonly (infer Item)[]
  ? readonly Resolved<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Resolved<T[K]> }
    : Exclude<T, 'auto'>

type Parsed = z.output<typeof tenantConfigSchema>

/** A tenant's configuration with all defaults applied. Field by field described by its schema. */
export type TenantConfig = Resolved<Parsed>

export type Direction = 'toHost' | 'fromHost'

/** A change of one field while an object crosses. */
export type PatchConfig = TenantConfig['sync']['toHost']['pods']['patches'][number]

/** A label selector; both parts empty select everything. */
export type SelectorConfig = TenantConfig['sync']['fromHost']['ingressClasses']['selector']

/** Decides what was left to a rule. Nothing changes when it is applied to its own result. */
export function resolve(parsed: Parsed): TenantConfig {
  const config = structuredClone(parsed)
  const { toHost, fromHost } = config.sync
  const gatewayApi = toHost.gatewayApi
  if (gatewayApi.enabled) {
    gatewayApi.gateways.enabled = true
    gatewayApi.httpRoutes.enabled = true
    fromHost.gatewayClasses.enabled = true
  }
  const routes = [gatewayApi.gateways, gatewayApi.httpRoutes, gatewayApi.grpcRoutes, gatewayApi.tlsRoutes].some(
    (kind) => kind.enabled,
  )
  decide(gatewayApi.referenceGrants, routes && toHost.namespaces.enabled)
  decide(fromHost.storageClasses, false)
  decide(fromHost.csiNodes, false)
  decide(fromHost.csiDrivers, false)
  decide(fromHost.csiStorageCapacities, false)
  decide(config.networking.dns, config.networking.dns.address !== undefined)
  return config as TenantConfig
}

function decide(kind: { enabled: boolean | 'auto' }, automatic: boolean): void {
  if (kind.enabled === 'auto') kind.enabled = automatic
}

const DEFAULT: TenantConfig = deepFreeze(resolve(tenantConfigSchema.parse({})))

/** The configuration of a tenant that is given none. */
export function defaultTenantConfig(): TenantConfig {
  return DEFAULT
}

/** Makes sure that nobody changes what all share. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}
