import { type Bus, type Kv, openKv } from '#libs/bus'
import { HOST_KEY, type HostEntry, REGISTRY_BUCKET, type TenantEntry, tenantKey } from './tenant-entry.ts'

/** The registry as its administrator writes it. Services follow it through `openTenantDirectory`. */
export type TenantRegistry = {
  setHost(host: HostEntry): Promise<void>
  host(): Promise<HostEntry | undefined>
  put(tenant: TenantEntry): Promise<void>
  get(name: string): Promise<TenantEntry | undefined>
  list(): Promise<TenantEntry[]>
  /** @returns whether there was such a tenant */
  remove(name: string): Promise<boolean>
}

/** Opens the bucket that says where the host is and who the tenants are. */
export function openRegistryBucket(bus: Bus, replicas: number): Promise<Kv<TenantEntry | HostEntry>> {
  return openKv<TenantEntry | HostEntry>(bus, { bucket: REGISTRY_BUCKET, replicas, description: 'host and tenants' })
}

/** @throws BusError `KvFailed` */
export async function openTenantRegistry(bus: Bus, replicas: number): Promise<TenantRegistry> {
  const kv = await openRegistryBucket(bus, replicas)
  const get = async (name: string): Promise<TenantEntry | undefined> =>
    (await kv.get(tenantKey(name)))?.value as TenantEntry | undefined
  return {
    setHost: async (host) => void (await kv.put(HOST_KEY, host)),
    host: async () => (await kv.get(HOST_KEY))?.value as HostEntry | undefined,
    put: async (tenant) => void (await kv.put(tenantKey(tenant.name), tenant)),
    get,
    list: async () => (await kv.list(tenantKey('*'))).map((entry) => entry.value as TenantEntry),
    remove: async (name) => (await get(name)) !== undefined && (await kv.delete(tenantKey(name))),
  }
}
