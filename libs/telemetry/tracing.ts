import type { SpanRecord } from './span-record.ts'
import { type TraceContext, newTrace } from './trace-context.ts'

/** Where spans go. */
export type Tracing = {
  /** Whether spans go anywhere: if not, none need to be made. */
  readonly isOn: boolean
  /** From how many milliseconds on a sync is traced whatever the sampling says. */
  readonly slowMs: number
  /** Begins a trace; what comes back from a write is sampled as the trace of that write was. */
  begin(madeBy?: TraceContext): TraceContext
  /** Whether the spans of a trace are wanted, by what it says itself or by the rate. */
  wants(context: TraceContext): boolean
  /** Takes ended spans. Never waits and never throws: what there is no room for is dropped and counted. */
  record(spans: readonly SpanRecord[]): void
  /** The same for a trace that is not sampled, and is told of since it failed or was slow; it gets less room. */
  recordUnsampled(spans: readonly SpanRecord[]): void
  /** Sends what is left, within a short time. */
  close(): Promise<void>
}

/** Without an endpoint: ids are made, since stamps and the log have them, and nothing else. */
export const NO_TRACING: Tracing = {
  isOn: false,
  slowMs: Infinity,
  begin: newTrace,
  wants: () => false,
  record: () => undefined,
  recordUnsampled: () => undefined,
  close: () => Promise.resolve(),
}
