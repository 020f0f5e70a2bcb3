/** The names of the four streams. */
export const STREAMS = { changes: 'CHANGES', intents: 'INTENTS', outcomes: 'OUTCOMES', state: 'STATE' } as const

export type StreamName = (typeof STREAMS)[keyof typeof STREAMS]

/** One stream as it must be on the server. */
export type StreamDeclaration = {
  name: StreamName
  description: string
  /** Subjects published to it; empty for a stream that is sourced. */
  subjects: readonly string[]
  /** Streams that the server copies into it. */
  sources: readonly StreamName[]
  replicas: number
  /** Age after which messages go, in milliseconds; 0 keeps them. */
  maxAgeMs: number
  /** Size after which the oldest messages go, in bytes; -1 for no limit. */
  maxBytes: number
  /** How many messages are kept per subject; -1 for all. */
  maxMessagesPerSubject: number
  /** How long the server remembers message ids to drop doubles, in milliseconds. */
  duplicateWindowMs: number
}

export type StreamOptions = {
  /** Copies of each message: 1 on one machine, 3 in a cluster. @default 1 */
  replicas?: number
  /** How long the history is kept, in hours. @default 72 */
  historyHours?: number
  /** Size limit of each history stream, in bytes. @default 4 GiB */
  historyBytes?: number
}

/** The four streams of an installation. STATE keeps the last change and the last outcome of every object. */
export function streamDeclarations(options: StreamOptions = {}): StreamDeclaration[] {
  const replicas = options.replicas ?? 1
  const history = {
    sources: [],
    replicas,
    maxAgeMs: (options.historyHours ?? 72) * 3_600_000,
    maxBytes: options.historyBytes ?? 4 * 1024 ** 3,
    maxMessagesPerSubject: -1,
    duplicateWindowMs: 120_000,
  }
  return [
    { ...history, name: STREAMS.changes, description: 'every observed change, both sides', subjects: ['change.>'] },
    { ...history, name: STREAMS.intents, description: 'every write decided on', subjects: ['intent.>'] },
    { ...history, name: STREAMS.outcomes, description: 'what became of every intent', subjects: ['outcome.>'] },
    {
      name: STREAMS.state,
      description: 'last state of each object, last outcome of each target',
      subjects: [],
      sources: [STREAMS.changes, STREAMS.outcomes],
      replicas,
      maxAgeMs: 0,
      maxBytes: -1,
      maxMessagesPerSubject: 1,
      duplicateWindowMs: 120_000,
    },
  ]
}

/** How long a tombstone stays in STATE, as a `Nats-TTL` value: longer than the history, so that no replay misses it. */
export function tombstoneTtl(options: StreamOptions = {}): string {
  return `${(options.historyHours ?? 72) + 24}h`
}
