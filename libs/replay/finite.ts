import { type Bus, readOrdered } from '#libs/bus'
import type { LogMessage, StreamName } from '#libs/events'

const CAPACITY = 2_000

/** What is to be read: what matches in one stream, as it is at the time of the call. */
export type Part = {
  stream: StreamName
  filterSubjects: string[]
  signal: AbortSignal
  /** Told when the stream no longer reaches back to its beginning. */
  onCut?: () => void
}

/**
 * Reads what a stream holds now, in its order and in batches, and ends: what others add meanwhile is not waited for.
 * @throws BusError
 */
export async function* readThere(bus: Bus, part: Part): AsyncGenerator<LogMessage[], void, void> {
  const { stream, filterSubjects, signal, onCut } = part
  const { state } = await bus.manager.streams.info(stream)
  const done = new AbortController()
  const reader = readOrdered(bus, {
    stream,
    filterSubjects,
    startSeq: 1,
    capacity: CAPACITY,
    signal: AbortSignal.any([signal, done.signal]),
    onGap: () => onCut?.(),
  })
  void reader.caughtUp.then(() => done.abort())
  for await (const batch of reader) {
    const within = batch.filter(({ seq }) => seq <= state.last_seq)
    if (within.length > 0) yield within
    if (reader.lastSeq >= state.last_seq) break
  }
  signal.throwIfAborted()
}

/**
 * Several streams as one, by the time at which their messages were stored; of two at the same time, that of the earlier
 * part first.
 */
export async function* readMerged(bus: Bus, parts: readonly Part[]): AsyncGenerator<LogMessage, void, void> {
  const sources = parts.map((part) => ({ batches: readThere(bus, part), batch: [] as LogMessage[], at: 0 }))
  const head = async (source: (typeof sources)[number]): Promise<LogMessage | undefined> => {
    if (source.at >= source.batch.length) {
      const next = await source.batches.next()
      source.batch = next.done === true ? [] : next.value
      source.at = 0
    }
    return source.batch[source.at]
  }
  for (;;) {
    let first: { source: (typeof sources)[number]; message: LogMessage } | undefined
    for (const source of sources) {
      const message = source.batch[source.at] ?? (await head(source))
      if (message === undefined) continue
      if (first === undefined || message.storedAt < first.message.storedAt) first = { source, message }
    }
    if (first === undefined) return
    first.source.at += 1
    yield first.message
  }
}
