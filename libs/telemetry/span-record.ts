/** The parts that spans are of. */
export type TracedPart = 'watcher' | 'translator' | 'writer'

/** A span that has ended. */
export type SpanRecord = {
  part: TracedPart
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: 'internal' | 'client' | 'producer' | 'consumer'
  /** Ms since the epoch. */
  from: number
  until: number
  attributes: Record<string, string | number | boolean>
  links: readonly { traceId: string; spanId: string }[]
  /** Why it failed; absent when it did not. */
  error?: string
}
