import { type Clock, backoffDelay } from '#libs/kernel'
import type { TenantDirectory, TenantEntry, TenantEvent } from '#libs/runtime'
import type { Known } from './known-objects.ts'
import { untilAborted } from './until-aborted.ts'

export type HostTenantsOptions = {
  directory: Pick<TenantDirectory, 'tenants' | 'tenant'>
  /** Objects of the kind that the log holds. */
  known: () => Iterable<Known>
  /** Whether the watch is past its first list. */
  isReady: () => boolean
  /** Publishes that a list is closed for a tenant. */
  mark: (tenant: TenantEntry, listed: { resourceVersion: string; count: number }) => void
  /** Lists what one tenant has, and closes that list. */
  catchUp: (tenant: TenantEntry, signal: AbortSignal) => Promise<void>
  onFailed: (tenant: string, error: unknown) => void
  clock: Clock
  random: () => number
}

const RETRY = { baseMs: 500, capMs: 15_000 }

/**
 * Which tenants a watch of the host has a closed list for. Those registered after its list began get one of their own.
 */
export class HostTenants {
  readonly #options: HostTenantsOptions
  readonly #closed = new Set<string>()
  #covered: TenantEntry[] = []
  #wake = Promise.withResolvers<void>()

  constructor(options: HostTenantsOptions) {
    this.#options = options
  }

  /** The log says that a list was closed for this tenant. */
  recall(tenant: Pick<TenantEntry, 'name' | 'uid'>): void {
    this.#closed.add(idOf(tenant))
  }

  /**
   * Notes whom the list that begins will speak for. Not for a new tenant with the name of an earlier one: of that one's
   * objects a list publishes only what has changed, and the log's readers may have forgotten the others.
   */
  beginList(): void {
    const named = new Set<string>()
    for (const { tenant } of this.#options.known()) named.add(tenant)
    this.#covered = this.#options.directory
      .tenants()
      .filter((tenant) => this.#closed.has(idOf(tenant)) || !named.has(tenant.name))
  }

  closeList(listed: { resourceVersion: string; count: number }): void {
    const { directory, mark } = this.#options
    const { resourceVersion, count } = listed
    for (const tenant of this.#covered) {
      const now = directory.tenant(tenant.name)
      if (now?.uid !== tenant.uid || now.hostNamespace !== tenant.hostNamespace) continue
      mark(tenant, { resourceVersion, count })
      this.#closed.add(idOf(tenant))
    }
    this.#covered = []
  }

  onChange(type: TenantEvent['type'], tenant: TenantEntry): void {
    // Whatever changed about it, what is its own may be other objects now.
    if (type !== 'added') this.#closed.delete(idOf(tenant))
    this.rouse()
  }

  /** Looks again whether there is something to do. */
  rouse(): void {
    this.#wake.resolve()
  }

  /** Catches up on every tenant that has no closed list, until the signal aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    const { directory, isReady, catchUp, onFailed, clock, random } = this.#options
    for (let attempt = 0; !signal.aborted;) {
      const next = isReady() ? directory.tenants().find((tenant) => !this.#closed.has(idOf(tenant))) : undefined
      if (next === undefined) {
        attempt = 0
        await untilAborted(this.#wake.promise, signal)
        this.#wake = Promise.withResolvers()
        continue
      }
      try {
        await catchUp(next, signal)
        if (directory.tenant(next.name)?.hostNamespace === next.hostNamespace) this.#closed.add(idOf(next))
      } catch (error) {
        if (signal.aborted) return
        onFailed(next.name, error)
        await clock.sleep(backoffDelay(RETRY, attempt++, random), signal).catch(() => undefined)
      }
    }
  }
}

function idOf(tenant: Pick<TenantEntry, 'name' | 'uid'>): string {
  return `${tenant.name}/${tenant.uid}`
}
