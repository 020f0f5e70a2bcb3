import { type Bus, type Kv, openKv } from '#libs/bus'
import { partitionOf } from '#libs/events'
import { type Clock, errorMessage } from '#libs/kernel'
import {
  type DeletionHold,
  HOLD_PREFIX,
  type TenantDirectory,
  type TenantEntry,
  type WaitingReport,
  openDeletionHolds,
  openWaitingReports,
} from '#libs/runtime'
import type { Logger } from '#libs/telemetry'
import type { FleetView, PartitionLag, TenantRow, TenantView } from '../views.ts'
import { foldOutcomes } from './fold-outcomes.ts'
import { LatencyHistory } from './latency-history.ts'
import { PartitionLags } from './partition-lag.ts'

export type FleetOptions = {
  bus: Bus
  directory: Pick<TenantDirectory, 'tenants' | 'tenant'>
  partitions: number
  replicas: number
  isOperator: boolean
  clock: Clock
  logger: Logger
  signal: AbortSignal
}

type Health = { state: string; message: string; since?: string }

const UNKNOWN: Health = { state: 'unknown', message: 'no watcher has said anything yet' }
const LAG_EVERY_MS = 5_000

/** How it stands with the whole fleet, followed: states, what waits, holds, owners, and the syncs of the last hour. */
export class FleetState {
  readonly waitingReports: Kv<WaitingReport>
  readonly #options: FleetOptions
  readonly #latency = new LatencyHistory()
  readonly #lags: PartitionLags
  readonly #health = new Map<string, Health>()
  readonly #waiting = new Map<string, Record<string, number>>()
  readonly #holds = new Map<string, DeletionHold>()
  #isComplete = false
  #read: { at: number; lags: Promise<PartitionLag[]> } | undefined

  private constructor(options: FleetOptions, waitingReports: Kv<WaitingReport>) {
    this.#options = options
    this.waitingReports = waitingReports
    this.#lags = new PartitionLags(options.bus, options)
  }

  /**
   * Begins to follow; resolves when what stands in the buckets is in. The syncs of the last hour come after that.
   * @throws BusError
   */
  static async open(options: FleetOptions): Promise<FleetState> {
    const { bus, replicas } = options
    const [health, waiting, holds] = await Promise.all([
      openKv<Health>(bus, { bucket: 'causeway-status', replicas }),
      openWaitingReports(bus, replicas),
      openDeletionHolds(bus, replicas),
    ])
    const state = new FleetState(options, waiting)
    await state.#follow({ health, holds })
    return state
  }

  summary(lags: PartitionLag[]): FleetView {
    const { clock, directory, isOperator } = this.#options
    const now = clock.now()
    const byState: Record<string, number> = {}
    const waiting: Record<string, number> = {}
    const counted = { waiting: 0, held: 0 }
    const tenants = directory.tenants()
    for (const { name } of tenants) {
      const { state } = this.#healthOf(name)
      byState[state] = (byState[state] ?? 0) + 1
      const counts = this.#waiting.get(name)
      if (counts !== undefined) counted.waiting += 1
      for (const [reason, count] of Object.entries(counts ?? {})) waiting[reason] = (waiting[reason] ?? 0) + count
      if (this.#holds.has(name)) counted.held += 1
    }
    const { watcherHost } = this.#lags
    return {
      at: now,
      isOperator,
      host: this.#health.get('host') ?? UNKNOWN,
      tenants: { total: tenants.length, byState, ...counted },
      waiting,
      latency: this.#latency.view(now, this.#isComplete),
      partitions: lags,
      ...(watcherHost === undefined ? {} : { watcherHost }),
    }
  }

  /** How far behind each partition is, read at most every few seconds however many ask. @throws BusError */
  lags(): Promise<PartitionLag[]> {
    const now = this.#options.clock.now()
    if (this.#read === undefined || now - this.#read.at > LAG_EVERY_MS) {
      const lags = this.#lags.read()
      this.#read = { at: now, lags }
      lags.catch(() => {
        this.#read = undefined
      })
    }
    return this.#read.lags
  }

  row(entry: TenantEntry): TenantRow {
    const { name, hostNamespace } = entry
    const { state, message } = this.#healthOf(name)
    const { counts, meanMs } = this.#latency.tenant(name, this.#options.clock.now())
    return {
      name,
      hostNamespace,
      partition: partitionOf(name, this.#options.partitions),
      state,
      message,
      waiting: this.waiting(name),
      isHeld: this.#holds.has(name),
      syncs: counts,
      meanMs,
    }
  }

  tenant(entry: TenantEntry): TenantView {
    const { since } = this.#healthOf(entry.name)
    const { meansMs, from } = this.#latency.tenant(entry.name, this.#options.clock.now())
    const hold = this.#holds.get(entry.name)
    return {
      ...this.row(entry),
      ...(since === undefined ? {} : { since }),
      counts: this.#waiting.get(entry.name) ?? {},
      ...(hold === undefined ? {} : { hold: shownHold(hold) }),
      meansMs,
      from,
      config: entry.config ?? {},
    }
  }

  /** How many objects of a tenant wait, for one reason or any. */
  waiting(tenant: string, reason?: string): number {
    const counts = this.#waiting.get(tenant) ?? {}
    if (reason !== undefined) return counts[reason] ?? 0
    return Object.values(counts).reduce((sum, count) => sum + count, 0)
  }

  state(tenant: string): string {
    return this.#healthOf(tenant).state
  }

  /** Mean time of a tenant's syncs over the last hour, and their number. */
  activity(tenant: string): { meanMs: number | null; syncs: number } {
    const { meanMs, counts } = this.#latency.tenant(tenant, this.#options.clock.now())
    return { meanMs, syncs: counts.reduce((sum, count) => sum + count, 0) }
  }

  #healthOf(tenant: string): Health {
    return this.#health.get(`tenant.${tenant}`) ?? UNKNOWN
  }

  async #follow({ health, holds }: { health: Kv<Health>; holds: Kv<unknown> }): Promise<void> {
    const { bus, clock, signal, logger } = this.#options
    const keep = (what: string, following: Promise<void>): void => {
      following.catch((error: unknown) => {
        if (!signal.aborted) logger.error({ what, error: errorMessage(error) }, 'what the console shows stands still')
      })
    }
    keep('owners', this.#lags.follow(signal))
    const onCaughtUp = (): void => {
      this.#isComplete = true
    }
    keep('outcomes', foldOutcomes(bus, this.#latency, { clock, signal, onCaughtUp }))
    const nameOf = (key: string): string => key.slice(key.indexOf('.') + 1)
    const followers = [
      this.#mirror(health, (key, value) => put(this.#health, key, value as Health | undefined)),
      this.#mirror(this.waitingReports, (key, value) =>
        put(this.#waiting, nameOf(key), (value as WaitingReport | undefined)?.counts),
      ),
      this.#mirror(holds, (key, value) => {
        if (key.startsWith(HOLD_PREFIX)) put(this.#holds, nameOf(key), value as DeletionHold | undefined)
      }),
    ]
    for (const { done } of followers) keep('buckets', done)
    await Promise.all(followers.map(({ ready }) => ready))
  }

  #mirror(kv: Kv<unknown>, take: (key: string, value: unknown) => void): { ready: Promise<void>; done: Promise<void> } {
    const { signal } = this.#options
    const ready = Promise.withResolvers<void>()
    const follow = async (): Promise<void> => {
      for await (const event of kv.watch({ signal })) {
        if (event.type === 'ready') ready.resolve()
        else take(event.key, event.type === 'put' ? event.value : undefined)
      }
    }
    const done = follow().finally(() => ready.resolve())
    return { ready: ready.promise, done }
  }
}

function put<T>(into: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) into.delete(key)
  else into.set(key, value)
}

function shownHold({ since, side, resource, waiting, contradiction }: DeletionHold): NonNullable<TenantView['hold']> {
  return { since, side, resource, waiting, ...(contradiction === undefined ? {} : { contradiction }) }
}
