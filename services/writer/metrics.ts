import type { Registry } from 'prom-client'
import { type LoggedIntent, type Outcome, REASONS, writeName } from '#libs/events'
import { METRICS, type MetricDeclaration, STAGES, counter, gauge, histogram } from '#libs/telemetry'
import { allowedWrites } from './allowed-writes.ts'
import type { ApiGates } from './api-gates.ts'
import { BEAT_RESULTS, type BeatResult } from './node-heartbeats.ts'
import { TOKEN_RESULTS, type TokenResult } from './token-keeper.ts'

const DECLARATIONS = {
  outcomes: {
    name: 'causeway_writer_outcomes_total',
    help: 'Intents settled, by side, resource, write, result and reason.',
    labels: ['side', 'resource', 'op', 'result', 'reason'],
  },
  writes: {
    name: 'causeway_writer_write_seconds',
    help: 'Duration of one call to an API, successful or not, by side, resource and write.',
    labels: ['side', 'resource', 'op'],
  },
  retries: {
    name: 'causeway_writer_retries_total',
    help: 'Attempts that will be repeated, by side and cause.',
    labels: ['side', 'cause'],
  },
  queued: {
    name: 'causeway_writer_queue_depth',
    help: 'Intents that wait for their turn at an API, by side and urgency.',
    labels: ['side', 'urgency'],
  },
  held: {
    name: 'causeway_writer_held_intents',
    help: 'Intents read and not settled.',
  },
  inFlight: {
    name: 'causeway_writer_in_flight',
    help: 'Calls under way, by side.',
    labels: ['side'],
  },
  limit: {
    name: 'causeway_writer_concurrency_limit',
    help: 'Calls allowed at once: to the host’s API, and to the tenant’s API that allows fewest.',
    labels: ['side'],
  },
  down: {
    name: 'causeway_writer_apis_down',
    help: 'API servers that do not answer, by side.',
    labels: ['side'],
  },
  heartbeats: {
    name: 'causeway_writer_node_heartbeats_total',
    help: 'Renewals of the leases of virtual nodes, by result.',
    labels: ['result'],
  },
  tokens: {
    name: 'causeway_writer_pod_tokens_total',
    help: 'Secrets with tokens of pods that were due, by what became of them.',
    labels: ['result'],
  },
  security: {
    name: 'causeway_writer_security_refusals_total',
    help: 'Writes refused because they would leave the bounds of their tenant. Anything but 0 needs a look.',
    labels: ['side'],
  },
  stages: {
    name: 'causeway_sync_stage_seconds',
    help: 'Time that done writes took, by stage and direction: watch, decide, log, queue, api.',
    labels: ['stage', 'direction'],
  },
} as const satisfies Record<string, MetricDeclaration>

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
}

/** The writer's metrics in a registry, every label value known beforehand present from the start. */
export function createWriterMetrics(registry: Registry): WriterMetrics {
  const outcomes = counter(registry, DECLARATIONS.outcomes)
  const writes = histogram(registry, DECLARATIONS.writes)
  const retries = counter(registry, DECLARATIONS.retries)
  const security = counter(registry, DECLARATIONS.security)
  const heartbeats = counter(registry, DECLARATIONS.heartbeats)
  const tokens = counter(registry, DECLARATIONS.tokens)
  const stages = histogram(registry, DECLARATIONS.stages)
  const queued = gauge(registry, DECLARATIONS.queued)
  const held = gauge(registry, DECLARATIONS.held)
  const inFlight = gauge(registry, DECLARATIONS.inFlight)
  const limit = gauge(registry, DECLARATIONS.limit)
  const down = gauge(registry, DECLARATIONS.down)
  const lag = gauge(registry, METRICS.partitionLag)

  for (const { side, resource, write } of allowedWrites()) {
    for (const result of ['done', 'superseded', 'conflict']) {
      outcomes.inc({ side, resource, op: write, result, reason: '' }, 0)
    }
    for (const reason of REASONS) outcomes.inc({ side, resource, op: write, result: 'parked', reason }, 0)
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
      if (result === 'done')
        observeStages(outcome, (stage, seconds) => stages.observe({ stage, direction: directionOf(side) }, seconds))
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
    gates: (gates, heldIntents) => {
      const bySide = { host: [gates.host], virtual: [...gates.tenants()] }
      held.set(heldIntents)
      for (const side of SIDES) {
        const ofSide = bySide[side]
        for (const urgency of ['urgent', 'bulk'] as const) {
          queued.set({ side, urgency }, sum(ofSide.map((gate) => gate.queued[urgency])))
        }
        inFlight.set({ side }, sum(ofSide.map((gate) => gate.inFlight)))
        limit.set({ side }, ofSide.length === 0 ? 0 : Math.min(...ofSide.map((gate) => gate.limit)))
        down.set({ side }, ofSide.filter((gate) => gate.availability.isDown).length)
      }
    },
  }
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

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
