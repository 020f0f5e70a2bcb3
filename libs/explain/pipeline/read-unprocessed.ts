import { type Bus, readOrdered } from '#libs/bus'
import { type StreamName, parseSubject } from '#libs/events'

/** How much is not processed, and when the oldest of it came, ms since the epoch. */
export type Unprocessed = { behind: number; since?: number }

/** Messages that are read to see whose they are. Where there are more, what is not read is nobody's. */
const READ_LIMIT = 200

/**
 * Counts what comes after a position, in all and by tenant.
 * @throws BusError
 */
export async function readUnprocessed(
  bus: Bus,
  of: { stream: StreamName; filterSubjects: readonly string[]; position: number },
): Promise<Unprocessed & { tenants: ReadonlyMap<string, Unprocessed> }> {
  const { stream, filterSubjects, position } = of
  const done = new AbortController()
  const reader = readOrdered(bus, {
    stream,
    filterSubjects,
    startSeq: position + 1,
    signal: done.signal,
    capacity: 100,
    onGap: () => undefined,
  })
  void reader.caughtUp.then(() => done.abort())
  const tenants = new Map<string, Unprocessed>()
  let since: number | undefined
  let count = 0
  try {
    for await (const batch of reader) {
      for (const { subject, storedAt } of batch) {
        since ??= storedAt
        count++
        const { tenant } = parseSubject(subject).key
        if (tenant === '') continue
        const known = tenants.get(tenant)
        tenants.set(tenant, { behind: (known?.behind ?? 0) + 1, since: known?.since ?? storedAt })
      }
      if (reader.pending === 0 || count >= READ_LIMIT) break
    }
    return {
      behind: count + (count >= READ_LIMIT ? reader.pending : 0),
      ...(since === undefined ? {} : { since }),
      tenants,
    }
  } finally {
    done.abort()
  }
}
