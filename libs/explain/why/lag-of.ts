import { type Bus, readOrdered } from '#libs/bus'
import type { StreamName } from '#libs/events'

/**
 * How much of a stream comes after a position, for these subjects, and since when the first of it has been there.
 * @throws BusError
 */
export async function lagOf(
  bus: Bus,
  of: { stream: StreamName; filterSubjects: readonly string[]; position: number },
): Promise<{ behind: number; since?: number }> {
  const { stream, filterSubjects, position } = of
  const done = new AbortController()
  const reader = readOrdered(bus, {
    stream,
    filterSubjects,
    startSeq: position + 1,
    signal: done.signal,
    capacity: 1,
    onGap: () => undefined,
  })
  void reader.caughtUp.then(() => done.abort())
  for await (const batch of reader) {
    const behind = batch.length + reader.pending
    done.abort()
    const since = batch[0]?.storedAt
    return { behind, ...(since === undefined ? {} : { since }) }
  }
  return { behind: 0 }
}
