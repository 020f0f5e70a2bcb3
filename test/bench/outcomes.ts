import { type Bus, readOrdered } from '#libs/bus'
import { type LoggedOutcome, STREAMS, type StreamName, decodeOutcome } from '#libs/events'
import { type Percentiles, percentiles } from './statistics.ts'

/** Sequence of the last message of each stream. */
export type LogEnd = Record<'changes' | 'intents' | 'outcomes', number>

const COUNTED = { changes: STREAMS.changes, intents: STREAMS.intents, outcomes: STREAMS.outcomes } as const

export async function logEnd(bus: Bus): Promise<LogEnd> {
  const last = async (stream: StreamName): Promise<number> => (await bus.manager.streams.info(stream)).state.last_seq
  const [changes, intents, outcomes] = await Promise.all(Object.values(COUNTED).map(last))
  return { changes: changes ?? 0, intents: intents ?? 0, outcomes: outcomes ?? 0 }
}

/** The outcomes that were logged between two ends. */
export async function outcomesBetween(bus: Bus, from: LogEnd, to: LogEnd): Promise<LoggedOutcome[]> {
  const outcomes: LoggedOutcome[] = []
  if (to.outcomes <= from.outcomes) return outcomes
  for await (const batch of readOrdered(bus, { stream: STREAMS.outcomes, startSeq: from.outcomes + 1 })) {
    outcomes.push(...batch.filter((message) => message.seq <= to.outcomes).map(decodeOutcome))
    if (batch.some((message) => message.seq >= to.outcomes)) break
  }
  return outcomes
}

/** Where the time of a write goes, in ms. `own` is ours: from the watch event in hand to the begin of the call. */
export const STAGE_NAMES = ['observed to logged', 'decided', 'intent logged', 'queued', 'own', 'API call'] as const
export type StageName = (typeof STAGE_NAMES)[number]

type Stages = LoggedOutcome['stages']

const DURATIONS: Record<StageName, (stages: Stages) => number> = {
  'observed to logged': (stages) => stages.loggedAt - stages.observedAt,
  decided: (stages) => stages.decidedAt - stages.loggedAt,
  'intent logged': (stages) => stages.intentAt - stages.decidedAt,
  queued: (stages) => stages.startedAt - stages.intentAt,
  own: (stages) => stages.startedAt - stages.observedAt,
  'API call': (stages) => stages.finishedAt - stages.startedAt,
}

/** Writes as the outcomes tell of them: those of a pod's way, and what churn makes. */
export const WRITES = ['create on the host', 'binding', 'status', 'ConfigMap on the host'] as const
export type WriteName = (typeof WRITES)[number] | `other: ${string}`

/** Which write an outcome is of. Of a patch the subresource is only told by the intent's id. */
export function writeName(outcome: Pick<LoggedOutcome, 'op' | 'target' | 'intentId'>): WriteName {
  const { op, target, intentId } = outcome
  if (target.resource === 'configmaps' && target.side === 'host' && op === 'patch') return 'ConfigMap on the host'
  if (target.resource !== 'pods') return `other: ${op} ${target.resource} (${target.side})`
  if (op === 'create' && target.side === 'host') return 'create on the host'
  if (op === 'bind') return 'binding'
  if (op === 'patch' && target.side === 'virtual' && intentId.includes('/patch-status/')) return 'status'
  return `other: ${op} pods (${target.side})`
}

/** Durations of every stage, by write. Only what was done counts. */
export function stageTimes(outcomes: readonly LoggedOutcome[]): Map<WriteName, Record<StageName, Percentiles>> {
  const times = new Map<WriteName, Record<StageName, Percentiles>>()
  for (const write of WRITES) {
    const stages = outcomes
      .filter((outcome) => outcome.result === 'done' && writeName(outcome) === write)
      .map((outcome) => outcome.stages)
    const entries = STAGE_NAMES.map((name) => [name, percentiles(stages.map(DURATIONS[name]))] as const)
    times.set(write, Object.fromEntries(entries) as Record<StageName, Percentiles>)
  }
  return times
}

/** How many writes there were of each sort, those that were not simply done apart. */
export function countWrites(outcomes: readonly LoggedOutcome[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const outcome of outcomes) {
    const reason = outcome.reason === undefined ? '' : ` ${outcome.reason}`
    const name = writeName(outcome) + (outcome.result === 'done' ? '' : ` (${outcome.result}${reason})`)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}
