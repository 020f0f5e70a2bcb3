import { type Bus, readOrdered } from '#libs/bus'
import { STREAMS, type StreamName } from '#libs/events'
import { errorMessage, systemClock } from '#libs/kernel'
import { keyString } from '#libs/kube-model'
import type { Vault } from '#libs/vault'
import { inOrder } from './in-order.ts'
import type { Story, StoryEntry } from './story-entry.ts'
import { type StorySubject, storyFilters } from './story-subject.ts'
import { EntryReader } from './to-entry.ts'

/** The log, and what opens what is sealed in it; without a vault, lengths are all that is shown of Secrets. */
export type StoryLog = { bus: Bus; vault?: Vault | undefined }

export type StoryOptions = {
  /** Earlier entries are left out, ms since the epoch; states before it still serve for comparing. @default all */
  since?: number | undefined
  /** Whether changes carry the whole state of the object, rather than what is other than before. @default false */
  states?: boolean | undefined
  signal?: AbortSignal | undefined
}

const STORY_STREAMS = [STREAMS.changes, STREAMS.intents, STREAMS.outcomes] as const

/** How many entries are awaited at most by one who reads slowly. */
const ENTRY_LIMIT = 10_000
/** How long entries are gathered before they are shown in order. */
const GATHER_MS = 100
/** How long a change is held that may be an echo, until the outcome says whether it is. */
const ECHO_MS = 2_000
const WRITES_KEPT = 40

/**
 * Reads all that the log holds about one object, both sides. Reads by subject: the cost follows the object's own
 * history and, for what the tenant was told, the Events of its namespace.
 * @throws BusError
 */
export async function readStory(log: StoryLog, about: StorySubject, options: StoryOptions = {}): Promise<Story> {
  const { since = 0, signal } = options
  const reader = new EntryReader(about.ref, { vault: log.vault, states: options.states })
  const filters = storyFilters(about)
  const read = await Promise.all(STORY_STREAMS.map((stream) => readThere(log.bus, stream, filters[stream], signal)))
  signal?.throwIfAborted()
  const entries = read.flatMap(({ stream, messages }) => messages.flatMap((each) => reader.read(stream, each) ?? []))
  return {
    entries: inOrder(entries).filter(({ at }) => at >= since),
    isCut: read.some(({ isCut }) => isCut),
  }
}

/**
 * The same, and then what comes, until the signal. Entries are held for a moment, so that those of several streams are in
 * causal order as well and echoes are known for ours.
 * @throws BusError
 */
export async function* followStory(
  log: StoryLog,
  about: StorySubject,
  options: StoryOptions & { signal: AbortSignal },
): AsyncGenerator<StoryEntry, void, void> {
  const { since = 0, signal } = options
  const reader = new EntryReader(about.ref, { vault: log.vault, states: options.states })
  const filters = storyFilters(about)
  const waiting: StoryEntry[] = []
  let wake = Promise.withResolvers<void>()
  let failure: Error | undefined
  const ended = new AbortController()
  const readers = STORY_STREAMS.map((stream) =>
    readOrdered(log.bus, {
      stream,
      filterSubjects: filters[stream],
      startSeq: 1,
      signal: AbortSignal.any([signal, ended.signal]),
      onGap: () => undefined,
    }),
  )
  const reading = readers.map(async (source, index) => {
    for await (const batch of source) {
      const stream = STORY_STREAMS[index] ?? STREAMS.changes
      for (const message of batch) {
        const entry = reader.read(stream, message)
        if (entry !== undefined && waiting.length < ENTRY_LIMIT) waiting.push(entry)
      }
      wake.resolve()
    }
  })
  const failed = Promise.all(reading).catch((error: unknown) => {
    failure = error instanceof Error ? error : new Error(errorMessage(error))
    wake.resolve()
  })
  const stop = (): void => wake.resolve()
  signal.addEventListener('abort', stop)
  try {
    await Promise.race([Promise.all(readers.map(({ caughtUp }) => caughtUp)), failed])
    const soon = systemClock.now() - ECHO_MS
    await gather(() => awaitsOutcome(waiting.filter(({ at }) => at > soon)), signal)
    const history = inOrder(waiting.splice(0))
    let recent = writesOf(history)
    yield* history.filter(({ at }) => at >= since)
    while (!signal.aborted && failure === undefined) {
      await wake.promise
      wake = Promise.withResolvers<void>()
      await gather(() => awaitsOutcome([...recent, ...waiting]), signal)
      const news = inOrder([...recent, ...waiting.splice(0)]).filter((entry) => !recent.includes(entry))
      recent = writesOf([...recent, ...news])
      yield* news
    }
    if (failure !== undefined && !signal.aborted) throw failure
  } finally {
    signal.removeEventListener('abort', stop)
    ended.abort()
    await failed
  }
}

/** Waits a moment, and longer as long as something is missing. */
async function gather(isMissing: () => boolean, signal: AbortSignal): Promise<void> {
  const until = performance.now() + ECHO_MS
  do {
    await systemClock.sleep(GATHER_MS, signal).catch(() => undefined)
  } while (!signal.aborted && performance.now() < until && isMissing())
}

/** The last intents and outcomes: what comes may be the echo of one of them. */
function writesOf(entries: readonly StoryEntry[]): StoryEntry[] {
  return entries.filter(({ kind }) => kind === 'intent' || kind === 'outcome').slice(-WRITES_KEPT)
}

/** Whether a change is among these that may be the echo of a write whose outcome is not. */
function awaitsOutcome(entries: readonly StoryEntry[]): boolean {
  const settled = new Set(entries.flatMap((entry) => (entry.kind === 'outcome' ? [entry.intentId] : [])))
  const open = entries.flatMap((entry) =>
    entry.kind === 'intent' && !settled.has(entry.id) ? [keyString(entry.object)] : [],
  )
  return entries.some((entry) => entry.kind === 'change' && open.includes(keyString(entry.object)))
}

/** What matches in a stream at this moment. */
async function readThere(
  bus: Bus,
  stream: StreamName,
  filterSubjects: string[],
  signal: AbortSignal | undefined,
): Promise<{ stream: StreamName; messages: Parameters<EntryReader['read']>[1][]; isCut: boolean }> {
  const done = new AbortController()
  const messages: Parameters<EntryReader['read']>[1][] = []
  let isCut = false
  const reader = readOrdered(bus, {
    stream,
    filterSubjects,
    startSeq: 1,
    signal: signal === undefined ? done.signal : AbortSignal.any([signal, done.signal]),
    onGap: () => {
      isCut = true
    },
  })
  void reader.caughtUp.then(() => done.abort())
  for await (const batch of reader) messages.push(...batch)
  return { stream, messages, isCut }
}
