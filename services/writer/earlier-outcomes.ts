import { type Bus, readOrdered } from '#libs/bus'
import { STREAMS, decodeOutcome, partitionFilters } from '#libs/events'

/** Which message an outcome is of: ids repeat when a decision is made again, times do not. */
export function settledKey(intentId: string, storedAt: number): string {
  return `${intentId}@${storedAt}`
}

/**
 * The intents that are settled according to the log, from a place in OUTCOMES on. The stored position is only a lower
 * bound; carrying out again what is settled beyond it could bring back what was deleted since.
 */
export async function readEarlierOutcomes(
  bus: Bus,
  options: { partition: number; after: number; signal: AbortSignal },
): Promise<Set<string>> {
  const settled = new Set<string>()
  const end = new AbortController()
  const reader = readOrdered(bus, {
    stream: STREAMS.outcomes,
    filterSubjects: partitionFilters('outcome', options.partition),
    startSeq: options.after + 1,
    signal: AbortSignal.any([options.signal, end.signal]),
    // What is no longer in the log is of intents that are not either.
    onGap: () => undefined,
  })
  void reader.caughtUp.then(() => end.abort())
  for await (const batch of reader) {
    for (const message of batch) {
      try {
        const { intentId, stages } = decodeOutcome(message)
        settled.add(settledKey(intentId, stages.intentAt))
      } catch {
        // Not an outcome of this writer.
      }
    }
  }
  options.signal.throwIfAborted()
  return settled
}
