import type { Registry } from 'prom-client'
import type { Side } from '#libs/kube-model'
import { METRICS, counter, gauge, setTop } from '#libs/telemetry'
import { DROP_REASONS, type DropReason } from './attribution.ts'
import { WATCH_STATES, type WatchState, type WatchStatus } from './status-board.ts'

/** What the watcher counts. */
export type WatcherMetrics = {
  event(side: Side, resource: string, type: string): void
  list(side: Side, resource: string): void
  error(side: Side, resource: string): void
  dropped(reason: DropReason): void
  /** How it stands with each watch of this process. */
  watches(statuses: readonly Pick<WatchStatus, 'tenant' | 'state'>[]): void
  /** A list was compared with what was published. */
  verified(side: Side, resource: string, found: { missed: number; gone: number }): void
}

/** What does not pass by itself. */
const BROKEN: ReadonlySet<WatchState> = new Set(['cluster-changed', 'unauthorized', 'unreachable'])

export function createWatcherMetrics(registry: Registry): WatcherMetrics {
  const events = counter(registry, METRICS.watchEvents)
  const lists = counter(registry, METRICS.watchLists)
  const errors = counter(registry, METRICS.watchErrors)
  const dropped = counter(registry, METRICS.watchDropped)
  const verified = counter(registry, METRICS.verifications)
  const found = counter(registry, METRICS.watchFound)
  const watches = gauge(registry, METRICS.watchesInState)
  const unwatched = gauge(registry, METRICS.tenantUnwatched)
  const tell = (statuses: readonly Pick<WatchStatus, 'tenant' | 'state'>[]): void => {
    for (const side of ['host', 'virtual'] as const) {
      const ofSide = statuses.filter(({ tenant }) => (tenant === '') === (side === 'host'))
      for (const state of WATCH_STATES) watches.set({ side, state }, ofSide.filter((one) => one.state === state).length)
    }
    const broken = new Map<string, number>()
    for (const { tenant, state } of statuses) {
      if (tenant !== '' && BROKEN.has(state)) broken.set(tenant, (broken.get(tenant) ?? 0) + 1)
    }
    setTop(unwatched, broken)
  }
  tell([])
  for (const reason of DROP_REASONS) dropped.inc({ reason }, 0)
  return {
    event: (side, resource, type) => events.inc({ side, resource, type }),
    list: (side, resource) => lists.inc({ side, resource }),
    error: (side, resource) => errors.inc({ side, resource }),
    dropped: (reason) => dropped.inc({ reason }),
    watches: tell,
    verified: (side, resource, { missed, gone }) => {
      verified.inc({ side, resource })
      found.inc({ side, resource, what: 'missed' }, missed)
      found.inc({ side, resource, what: 'gone' }, gone)
    },
  }
}
