import type { Registry } from 'prom-client'
import { type LoggedIntent, type Outcome, REASONS, writeName } from '#libs/events'
import { type Side, resourceToken } from '#libs/kube-model'
import { METRICS, STAGES, counter, gauge, histogram, setTop } from '#libs/telemetry'
import { watchedVirtual } from '#libs/translation'
import { defaultTenantConfig } from '#libs/sync-config'
import { allowedWrites } from './allowed-writes.ts'
import type { ApiGates } from './api-gates.ts'
import { BEAT_RESULTS, type BeatResult } from './node-heartbeats.ts'
import { TOKEN_RESULTS, type TokenResult } from './token-keeper.ts'

const SIDES = ['host', 'virtual'] as const

const WRITTEN = new Set(allowedWrites().map(({ side, resource }) => `${side}/${resource}`))

/** What the writer counts. */
export type WriterMetrics = {
  settled(intent: LoggedIntent, outcome: Outcome): void
  poison(outcome: Outcome): void
  call(intent: LoggedIntent, ms: number): void
  retry(intent: LoggedIntent, cause: string): void
  lag(partition: number, messages: number): void
  heartbeat(result: BeatResult): void
  tokens(result: TokenResult): void
  gates(gates: ApiGates, held: number): void
  /** Intents not settled, by tenant. */
  heldBy(byTenant: ReadonlyMap<string, number>): void
}

/** The writer's metrics in a registry, every label value known beforehand present from the start. */
export function createWriterMetrics(registry: Registry): WriterMetrics {
  const outcomes = counter(registry, METRICS.outcomes)
  const writes = histogram(registry, METRICS.writes)
  const retries = counter(registry, METRICS.writeRetries)
  const security = counter(registry, METRICS.securityRefusals)
  const heartbeats = counter(registry, METRICS.nodeHeartbeats)
  const tokens = counter(registry, METRICS.podTokens)
  const syncs = histogram(registry, METRICS.syncs)
  const stages = histogram(registry, METRICS.syncStages)
  const queued = gauge(registry, METRICS.writesQueued)
  const held = gauge(registry, METRICS.intentsHeld)
  const heldBy = gauge(registry, METRICS.tenantHeld)
  const inFlight = gauge(registry, METRICS.writesInFlight)
  const limit = gauge(registry, METRICS.writeLimit)
  const down = gauge(registry, METRICS.apisDown)
  const lag = gauge(registry, METRICS.partitionLag)

  for (const { side, resource, write } of allowedWrites()) {
    for (const result of ['done', 'superseded', 'conflict']) {
      outcomes.inc({ side, resource, op: write, result, reason: '' }, 0)
    }
  }
  for (const { side, resource } of usualTargets()) {
    syncs.zero({ direction: directionOf(side), resource })
    for (const reason of REASONS) outcomes.inc({ side, resource, op: 'create', result: 'parked', reason }, 0)
  }
  for (const result of TOKEN_RESULTS) tokens.inc({ result }, 0)
  for (const result of BEAT_RESULTS) heartbeats.inc({ result }, 0)
  for (const side of SIDES) {
    security.inc({ side }, 0)
    for (const cause of ['failed', 'overloaded']) retries.inc({ side, cause }, 0)
  }

  return {
    settled: (intent, outcome) => {
      const { side, resource } = labelsOf(intent)
      const { result, reason = '' } = outcome
      outcomes.inc({ side, resource, op: writeName(intent.write), result, reason })
      if (reason === 'OutsideTenant') security.inc({ side })
      if (result !== 'done') return
      const direction = directionOf(side)
      const { observedAt, finishedAt } = outcome.stages
      syncs.observe({ direction, resource }, Math.max(0, finishedAt - observedAt) / 1_000)
      observeStages(outcome, (stage, seconds) => stages.observe({ stage, direction, resource }, seconds))
    },
    poison: (outcome) => {
      const { side } = outcome.target
      outcomes.inc({ side, resource: 'unknown', op: 'unknown', result: outcome.result, reason: outcome.reason ?? '' })
    },
    call: (intent, ms) => writes.observe({ ...labelsOf(intent), op: writeName(intent.write) }, ms / 1_000),
    retry: (intent, cause) => retries.inc({ side: intent.target.side, cause }),
    heartbeat: (result) => heartbeats.inc({ result }),
    tokens: (result) => tokens.inc({ result }),
    lag: (partition, messages) => lag.set({ role: 'writer', partition: String(partition) }, messages),
    heldBy: (byTenant) => setTop(heldBy, byTenant),
    gates: (gates, heldIntents) => {
      held.set(heldIntents)
      for (const side of SIDES) {
        const load = gates.load(side)
        for (const urgency of ['urgent', 'bulk'] as const) queued.set({ side, urgency }, load.queued[urgency])
        inFlight.set({ side }, load.inFlight)
        limit.set({ side }, load.limit)
        down.set({ side }, load.down)
      }
    },
  }
}

/**
 * What is written where nothing is configured. What else crosses has its series from its first write on: with all of
 * them, each scrape would keep the process busy for a tenth of a second.
 */
function usualTargets(): { side: Side; resource: string }[] {
  const usual = new Set(watchedVirtual(defaultTenantConfig()).map(resourceToken))
  return [...WRITTEN]
    .map((written) => written.split('/') as [Side, string])
    .flatMap(([side, resource]) => (usual.has(resource) ? [{ side, resource }] : []))
}

/** Resources that are never written come from faulty intents: as labels they would be without bound. */
function labelsOf(intent: LoggedIntent): { side: string; resource: string } {
  const { side, resource } = intent.target
  return { side, resource: WRITTEN.has(`${side}/${resource}`) ? resource : 'unknown' }
}

function directionOf(side: string): string {
  return side === 'host' ? 'toHost' : 'toVirtual'
}

function observeStages(outcome: Outcome, observe: (stage: string, seconds: number) => void): void {
  const { observedAt, loggedAt, decidedAt, intentAt, startedAt, finishedAt } = outcome.stages
  const times = [observedAt, loggedAt, decidedAt, intentAt, startedAt, finishedAt]
  // Clocks of several machines may disagree by more than a stage takes.
  for (const [index, stage] of STAGES.entries()) {
    observe(stage, Math.max(0, (times[index + 1] ?? 0) - (times[index] ?? 0)) / 1_000)
  }
}
