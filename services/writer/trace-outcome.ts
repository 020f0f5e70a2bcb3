import type { LoggedIntent, Outcome } from '#libs/events'
import {
  type Exchange,
  type Tracing,
  changeSpans,
  decisionSpans,
  isFailure,
  parseTraceparent,
  writeSpans,
} from '#libs/telemetry'

/**
 * Records the spans of a write. Of a trace that is not sampled nobody has kept any; where the write failed or was slow,
 * those of watcher and translator are made here from the times that the intent carries, under the ids they would have had.
 */
export function traceOutcome(
  tracing: Tracing,
  intent: LoggedIntent,
  { outcome, exchanges = [] }: { outcome: Outcome; exchanges?: readonly Exchange[] | undefined },
): void {
  const context = parseTraceparent(intent.traceparent)
  if (context === undefined) return
  const { result, reason, stages } = outcome
  const isWanted = tracing.wants(context)
  const isSlow = stages.finishedAt - stages.observedAt >= tracing.slowMs
  if (!isWanted && !isSlow && !isFailure(result)) return
  const { id, target, write, rule, attempt } = intent
  const traced = { id, target, op: write.op, rule, attempt }
  const own = writeSpans(context, traced, { ...stages, result, reason, exchanges })
  if (isWanted) return tracing.record(own)
  const { observedAt, loggedAt, decidedAt, intentAt } = stages
  const earlier = [
    ...changeSpans(context, { ...target, side: 'virtual', ...intent.source }, { observedAt, storedAt: loggedAt }),
    ...decisionSpans(context, traced, { loggedAt, decidedAt, sentAt: intentAt }),
  ]
  const made = earlier.map((span) => ({ ...span, attributes: { ...span.attributes, 'causeway.made_by': 'writer' } }))
  tracing.recordUnsampled([...made, ...own])
}
