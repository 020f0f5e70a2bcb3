import { type Bus, readOrdered, sequenceSince } from '#libs/bus'
import { type LoggedOutcome, STREAMS, decodeOutcome } from '#libs/events'
import type { Clock } from '#libs/kernel'
import type { LatencyHistory, Sync, SyncTimes } from './latency-history.ts'

const HOUR_MS = 3_600_000

/** What is told to tenants is no sync of an object. */
const NO_SYNC = new Set(['announce'])

/**
 * Folds the outcomes of the last hour, and then each that comes, until the signal.
 * @param onCaughtUp told once the last hour is in
 * @throws BusError
 */
export async function foldOutcomes(
  bus: Bus,
  into: LatencyHistory,
  { clock, signal, onCaughtUp }: { clock: Clock; signal: AbortSignal; onCaughtUp: () => void },
): Promise<void> {
  const startSeq = await sequenceSince(bus, STREAMS.outcomes, clock.now() - HOUR_MS)
  const reader = readOrdered(bus, { stream: STREAMS.outcomes, startSeq, signal, onGap: () => undefined })
  void reader.caughtUp.then(onCaughtUp)
  for await (const batch of reader) {
    const now = clock.now()
    for (const message of batch) {
      // The header says what became of it: most that is not a sync need not be parsed.
      if (message.headers['Causeway-Type'] !== 'done') continue
      const sync = syncOf(message)
      if (sync !== undefined) into.add(sync, now)
    }
  }
}

/** @returns `undefined` for what is no sync, or cannot be read */
function syncOf(message: Parameters<typeof decodeOutcome>[0]): Sync | undefined {
  try {
    const outcome = decodeOutcome(message)
    if (NO_SYNC.has(outcome.op)) return undefined
    const { target, source, op, storedAt } = outcome
    return { tenant: target.tenant, ...source, op, at: storedAt, times: timesOf(outcome.stages) }
  } catch {
    return undefined
  }
}

/** Stage times; clocks of several machines may differ by a little, and nothing takes less than no time. */
function timesOf(stages: LoggedOutcome['stages']): SyncTimes {
  const { observedAt, loggedAt, decidedAt, intentAt, startedAt, finishedAt } = stages
  const took = (from: number, until: number): number => Math.max(0, until - from)
  return {
    watch: took(observedAt, loggedAt),
    decide: took(loggedAt, decidedAt),
    log: took(decidedAt, intentAt),
    queue: took(intentAt, startedAt),
    api: took(startedAt, finishedAt),
    total: took(observedAt, finishedAt),
  }
}
