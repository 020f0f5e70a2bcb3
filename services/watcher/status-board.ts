import type { Kv } from '#libs/bus'
import type { Clock } from '#libs/kernel'
import type { Logger } from '#libs/telemetry'

/** The worst first: it speaks for the whole. */
export const WATCH_STATES = ['cluster-changed', 'unauthorized', 'unreachable', 'listing', 'synced', 'absent'] as const

/** How it stands with a watched API, or with one kind of it. */
export type WatchState = (typeof WATCH_STATES)[number]

/** One kind of one tenant; `tenant` is empty for the host. */
export type WatchStatus = { tenant: string; resource: string; state: WatchState; message: string }

/** What `causeway-status` holds: key `tenant.<name>` for a tenant, `host` for the host. `since` is an ISO time. */
export type StoredStatus = { state: WatchState; message: string; since: string }

/** Bucket with the state of every watched API, see {@link StoredStatus}. */
export const STATUS_BUCKET = 'causeway-status'

/** Sums the kinds of one API up. */
export function summarize(statuses: Iterable<WatchStatus>): { state: WatchState; message: string } {
  let worst: WatchStatus | undefined
  for (const status of statuses) {
    if (worst === undefined || WATCH_STATES.indexOf(status.state) < WATCH_STATES.indexOf(worst.state)) worst = status
  }
  return { state: worst?.state ?? 'listing', message: worst?.message ?? '' }
}

/** Keeps the state of every watch, logs each change of a tenant's once, and makes it known through the bucket. */
export class StatusBoard {
  readonly #options: { kv: Kv<StoredStatus>; logger: Logger; clock: Clock }
  readonly #statuses = new Map<string, Map<string, WatchStatus>>()
  readonly #stored = new Map<string, StoredStatus>()
  readonly #writing = new Map<string, Promise<void>>()

  constructor(options: { kv: Kv<StoredStatus>; logger: Logger; clock: Clock }) {
    this.#options = options
  }

  list(): WatchStatus[] {
    return [...this.#statuses.values()].flatMap((kinds) => [...kinds.values()])
  }

  set(status: WatchStatus): void {
    const kinds = this.#statuses.get(status.tenant) ?? new Map<string, WatchStatus>()
    this.#statuses.set(status.tenant, kinds)
    kinds.set(status.resource, status)
    const { state, message } = summarize(kinds.values())
    const before = this.#stored.get(status.tenant)
    if (before?.state === state && before.message === message) return
    const since = before?.state === state ? before.since : new Date(this.#options.clock.now()).toISOString()
    this.#stored.set(status.tenant, { state, message, since })
    if (before?.state !== state) this.#log(status.tenant, state, message)
    this.#write(status.tenant)
  }

  /** Forgets what is watched no longer here; `gone` also for everybody else. */
  remove(tenant: string, options: { gone: boolean }): void {
    this.#statuses.delete(tenant)
    this.#stored.delete(tenant)
    if (options.gone) this.#write(tenant)
  }

  /** Resolves when everything is stored. */
  async idle(): Promise<void> {
    await Promise.all(this.#writing.values())
  }

  #log(tenant: string, state: WatchState, message: string): void {
    const fields = { tenant: tenant === '' ? 'host' : tenant, state, reason: message }
    if (state === 'cluster-changed') this.#options.logger.error(fields, 'watched API changed its state')
    else if (state === 'listing' || state === 'synced')
      this.#options.logger.info(fields, 'watched API changed its state')
    else this.#options.logger.warn(fields, 'watched API changed its state')
  }

  /** One write at a time per key; what is written is the state of then. */
  #write(tenant: string): void {
    const key = tenant === '' ? 'host' : `tenant.${tenant}`
    const write = async (): Promise<void> => {
      const stored = this.#stored.get(tenant)
      if (stored === undefined) await this.#options.kv.delete(key)
      else await this.#options.kv.put(key, stored)
    }
    const writing = (this.#writing.get(tenant) ?? Promise.resolve())
      .then(write)
      .catch((error: unknown) => this.#options.logger.warn({ tenant, err: error }, 'status could not be stored'))
      .then(() => {
        if (this.#writing.get(tenant) === writing) this.#writing.delete(tenant)
      })
    this.#writing.set(tenant, writing)
  }
}
