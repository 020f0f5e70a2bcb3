import type { Bus } from '#libs/bus'
import { type Clock, jsonEqual } from '#libs/kernel'
import { type KubeClient, createKubeClient } from '#libs/kube'
import type { Logger } from '#libs/telemetry'
import type { TenantContext } from '#libs/translation'
import { type AcceptedTenant, acceptEntry, contextOf } from './accept-entry.ts'
import { lazyClusterConfig } from './lazy-cluster-config.ts'
import { HOST_KEY, type HostEntry, type TenantEntry, tenantKey } from './tenant-entry.ts'
import { openRegistryBucket } from './tenant-registry.ts'

export type TenantEvent = { type: 'added' | 'changed' | 'removed'; tenant: TenantEntry }

/** The host and the tenants as registered, followed live, with a client for each. */
export type TenantDirectory = {
  /** The host's API. */
  host(): KubeClient
  tenants(): TenantEntry[]
  tenant(name: string): TenantEntry | undefined
  /** A tenant's API; `undefined` when there is no such tenant. */
  client(name: string): KubeClient | undefined
  /** What translation must know of a tenant. */
  context(name: string): TenantContext | undefined
  /** Calls the listener on each change from now on. @returns how to stop that */
  subscribe(listener: (event: TenantEvent) => void): () => void
  close(): Promise<void>
}

export type TenantDirectoryOptions = { bus: Bus; replicas: number; clock: Clock; logger: Logger; signal: AbortSignal }

/**
 * Opens the directory; resolves once everything registered so far is in it and the host is known, for which it waits.
 */
export async function openTenantDirectory(options: TenantDirectoryOptions): Promise<TenantDirectory> {
  const kv = await openRegistryBucket(options.bus, options.replicas)
  const directory = new LiveDirectory(options)
  const closing = new AbortController()
  const signal = AbortSignal.any([options.signal, closing.signal])
  const following = (async () => {
    for await (const event of kv.watch({ signal })) {
      if (event.type === 'ready') directory.markReady()
      else if (event.key === HOST_KEY) directory.setHost(event.type === 'put' ? (event.value as HostEntry) : undefined)
      else if (event.type === 'put') directory.put(event.key, event.value)
      else directory.remove(event.key.slice(event.key.indexOf('.') + 1))
    }
  })()
  following.catch((error: unknown) => {
    directory.fail(error)
    if (!signal.aborted) options.logger.error({ err: error }, 'the tenants as registered are followed no more')
  })
  const onAbort = (): void => directory.fail(options.signal.reason)
  options.signal.addEventListener('abort', onAbort, { once: true })
  if (options.signal.aborted) onAbort()
  await directory.ready
  return {
    host: () => directory.host(),
    tenants: () => [...directory.tenants.values()].map(({ entry }) => entry),
    tenant: (name) => directory.tenants.get(name)?.entry,
    client: (name) => directory.client(name),
    context: (name) => directory.context(name),
    subscribe: (listener) => directory.subscribe(listener),
    close: async () => {
      closing.abort()
      await following.catch(() => undefined)
      await directory.close()
    },
  }
}

class LiveDirectory {
  readonly tenants = new Map<string, AcceptedTenant>()
  readonly #options: TenantDirectoryOptions
  readonly #clients = new Map<string, { path: string; client: KubeClient }>()
  readonly #listeners = new Set<(event: TenantEvent) => void>()
  readonly #ready = Promise.withResolvers<void>()
  #host: { path: string; client: KubeClient } | undefined
  #listed = false

  constructor(options: TenantDirectoryOptions) {
    this.#options = options
  }

  get ready(): Promise<void> {
    return this.#ready.promise
  }

  markReady(): void {
    this.#listed = true
    if (this.#host !== undefined) this.#ready.resolve()
    else this.#options.logger.warn('no host is registered yet; waiting for it')
  }

  fail(error: unknown): void {
    this.#ready.reject(error)
  }

  host(): KubeClient {
    if (this.#host === undefined) throw new Error('no host is registered')
    return this.#host.client
  }

  setHost(host: HostEntry | undefined): void {
    if (host === undefined || host.kubeconfig === this.#host?.path) return
    const replaced = this.#host?.client
    this.#host = { path: host.kubeconfig, client: this.#connect(host.kubeconfig) }
    if (replaced !== undefined) void replaced.close()
    if (this.#listed) this.#ready.resolve()
  }

  put(key: string, value: unknown): void {
    const { name } = (value ?? {}) as { name?: unknown }
    if (typeof name === 'string' && key !== tenantKey(name)) {
      this.#options.logger.error(
        { key, tenant: name },
        'tenant entry is under another tenant’s key; it is not taken in',
      )
      return
    }
    const { tenant, problems } = acceptEntry(value, (known) => this.tenants.get(known))
    if (problems.length > 0) {
      this.#options.logger.error({ tenant: name, problems }, 'tenant entry is invalid; the last valid one holds')
    }
    if (tenant === undefined) return
    const { entry } = tenant
    const before = this.tenants.get(entry.name)
    if (jsonEqual(before?.entry, entry)) return
    this.tenants.set(entry.name, tenant)
    if (before !== undefined && before.entry.kubeconfig !== entry.kubeconfig) this.#disconnect(entry.name)
    this.#tell({ type: before === undefined ? 'added' : 'changed', tenant: entry })
  }

  remove(name: string): void {
    const tenant = this.tenants.get(name)
    if (tenant === undefined) return
    this.tenants.delete(name)
    this.#tell({ type: 'removed', tenant: tenant.entry })
    this.#disconnect(name)
  }

  client(name: string): KubeClient | undefined {
    const tenant = this.tenants.get(name)
    if (tenant === undefined) return undefined
    const existing = this.#clients.get(name)
    if (existing !== undefined) return existing.client
    const { kubeconfig } = tenant.entry
    const client = this.#connect(kubeconfig)
    this.#clients.set(name, { path: kubeconfig, client })
    return client
  }

  context(name: string): TenantContext | undefined {
    const tenant = this.tenants.get(name)
    if (tenant === undefined) return undefined
    return contextOf(tenant)
  }

  subscribe(listener: (event: TenantEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    await Promise.all([this.#host?.client.close(), ...[...this.#clients.values()].map(({ client }) => client.close())])
  }

  #connect(kubeconfig: string): KubeClient {
    const http2 = process.env['KUBE_HTTP2'] !== 'off'
    return createKubeClient(lazyClusterConfig(kubeconfig, this.#options.clock), { http2 })
  }

  #disconnect(name: string): void {
    const existing = this.#clients.get(name)
    this.#clients.delete(name)
    if (existing !== undefined) void existing.client.close()
  }

  #tell(event: TenantEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch (error) {
        // One that fails must keep neither the others nor the directory from following.
        this.#options.logger.error(
          { tenant: event.tenant.name, err: error },
          'change of a tenant could not be taken in',
        )
      }
    }
  }
}
