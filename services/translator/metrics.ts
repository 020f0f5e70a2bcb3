import type { Registry } from 'prom-client'
import { REASONS } from '#libs/events'
import type { Side } from '#libs/kube-model'
import { METRICS, counter, gauge, setTop } from '#libs/telemetry'
import { RULES } from '#libs/translation'
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
  for (const rule of [...Object.keys(RULES), 'announce']) {
    intents.inc({ rule }, 0)
    repairs.inc({ rule }, 0)
  }
  for (const stage of ['fold', 'decide']) poison.inc({ stage }, 0)
  /** Reasons that have been told: they go back to 0 and do not vanish. */
  const told = new Set<string>([...REASONS, WAITING_FOR_REFERENCE])
  for (const reason of told) parked.set({ reason }, 0)
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
    parked: (byReason) => {
      for (const reason of byReason.keys()) told.add(reason)
      for (const reason of told) parked.set({ reason }, byReason.get(reason) ?? 0)
    },
  }
}
