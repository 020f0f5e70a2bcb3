import type { Registry } from 'prom-client'
import { REASONS } from '#libs/events'
import type { Side } from '#libs/kube-model'
import { METRICS, counter, gauge, setTop } from '#libs/telemetry'
import { KINDS, RULES } from '#libs/translation'
import { TOLD, type Told } from './announce.ts'
import { NOTE_REASONS } from './notes.ts'
import { WAITING_FOR_REFERENCE } from './plan.ts'

/** What the translator counts. */
export type TranslatorMetrics = {
  folded(side: Side, resource: string): void
  intent(rule: string): void
  poison(stage: 'fold' | 'decide'): void
  /** The patrol found an intent to be missing. */
  repaired(rule: string): void
  /** A patrol has looked at every object of a partition. */
  patrolled(): void
  lag(partition: number, messages: number): void
  /** Lag is told only of partitions that are held. */
  lost(partition: number): void
  /** Tenants whose deletions are stopped. */
  held(tenants: number): void
  parked(byReason: ReadonlyMap<string, number>): void
  /** Objects that have a reason although nothing of them waits. */
  noted(byReason: ReadonlyMap<string, number>): void
  /** A tenant is told something about an object of its. */
  told(reason: Told): void
  /** Somebody else has deleted a copy on the host, and what followed. */
  copyLost(resource: string, followed: 'created' | 'deleted'): void
  /** Tenants whose configuration keeps objects of a kind in the tenant, by resource. */
  kindsOff(byResource: ReadonlyMap<string, number>): void
  /** How long the oldest intent has been without an answer. */
  unanswered(seconds: number): void
  /** Partitions that nobody works on, by role. */
  unowned(byRole: Readonly<Record<string, number>>): void
  /** Objects that wait, by tenant. */
  waiting(byTenant: ReadonlyMap<string, number>): void
}

/** The translator's metrics in a registry, every label value known beforehand present from the start. */
export function createTranslatorMetrics(registry: Registry): TranslatorMetrics {
  const folded = counter(registry, METRICS.changesFolded)
  const intents = counter(registry, METRICS.intentsPublished)
  const poison = counter(registry, METRICS.poison)
  const repairs = counter(registry, METRICS.repairs)
  const lag = gauge(registry, METRICS.partitionLag)
  const parked = gauge(registry, METRICS.parked)
  const held = gauge(registry, METRICS.deletionsHeld)
  const waiting = gauge(registry, METRICS.tenantWaiting)
  const patrols = counter(registry, METRICS.patrols)
  const noted = gauge(registry, METRICS.noted)
  const told = counter(registry, METRICS.eventsTold)
  const lost = counter(registry, METRICS.copiesLost)
  const off = gauge(registry, METRICS.kindsOff)
  const unanswered = gauge(registry, METRICS.unanswered)
  const unowned = gauge(registry, METRICS.partitionsUnowned)
  for (const reason of NOTE_REASONS) noted.set({ reason }, 0)
  for (const reason of TOLD) told.inc({ reason }, 0)
  for (const resource of Object.keys(KINDS)) off.set({ resource }, 0)
  for (const result of ['created', 'deleted']) lost.inc({ resource: 'pods', result }, 0)
  for (const role of ['watcher', 'watcher-host', 'translator', 'writer']) unowned.set({ role }, 0)
  unanswered.set(0)
  for (const rule of [...Object.keys(RULES), 'announce']) {
    intents.inc({ rule }, 0)
    repairs.inc({ rule }, 0)
  }
  for (const stage of ['fold', 'decide']) poison.inc({ stage }, 0)
  /** Reasons that have been counted: they go back to 0 and do not vanish. */
  const known = new Set<string>([...REASONS, WAITING_FOR_REFERENCE])
  for (const reason of known) parked.set({ reason }, 0)
  return {
    folded: (side, resource) => folded.inc({ side, resource }),
    intent: (rule) => intents.inc({ rule }),
    poison: (stage) => poison.inc({ stage }),
    repaired: (rule) => repairs.inc({ rule }),
    patrolled: () => patrols.inc(),
    lag: (partition, messages) => lag.set({ role: 'translator', partition: String(partition) }, messages),
    lost: (partition) => lag.remove({ role: 'translator', partition: String(partition) }),
    waiting: (byTenant) => setTop(waiting, byTenant),
    held: (tenants) => held.set(tenants),
    noted: (byReason) => {
      for (const reason of NOTE_REASONS) noted.set({ reason }, byReason.get(reason) ?? 0)
    },
    told: (reason) => told.inc({ reason }),
    copyLost: (resource, result) => lost.inc({ resource, result }),
    kindsOff: (byResource) => {
      for (const [resource, tenants] of byResource) off.set({ resource }, tenants)
    },
    unanswered: (seconds) => unanswered.set(seconds),
    unowned: (byRole) => {
      for (const [role, partitions] of Object.entries(byRole)) unowned.set({ role }, partitions)
    },
    parked: (byReason) => {
      for (const reason of byReason.keys()) known.add(reason)
      for (const reason of known) parked.set({ reason }, byReason.get(reason) ?? 0)
    },
  }
}
