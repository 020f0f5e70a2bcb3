import { knownResource, resourcePath } from '#libs/kube-model'
import {
  type Exchange,
  type SpanRecord,
  type TraceContext,
  changeSpans,
  decisionSpans,
  isFailure,
  parseTraceparent,
  spanIdOf,
  traceIdOf,
  writeSpans,
} from '#libs/telemetry'
import type { ChangeEntry, IntentEntry, OutcomeEntry, StoryEntry } from './story-entry.ts'

type Value = { stringValue: string } | { intValue: string } | { boolValue: boolean }
type Attribute = { key: string; value: Value }

/** A span as OTLP has it in JSON: ids in hex, times in nanoseconds since the epoch, as text. */
export type OtlpSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  /** 1 internal, 3 client, 4 producer, 5 consumer. */
  kind: 1 | 3 | 4 | 5
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attribute[]
  links: { traceId: string; spanId: string }[]
  status: { code: 0 | 1 | 2; message?: string }
}

/** What an OTLP endpoint takes at `/v1/traces`. */
export type OtlpTraces = {
  resourceSpans: {
    resource: { attributes: Attribute[] }
    scopeSpans: { scope: { name: string }; spans: OtlpSpan[] }[]
  }[]
}

/**
 * The spans of a story, built from the log's own times: those that the services would have sent, under the same names and
 * ids, whatever the sampling was. How often an API was asked the log does not know: there is one request for each write.
 * To be sent to any OTLP endpoint.
 */
export function storySpans(entries: readonly StoryEntry[]): OtlpTraces {
  const changes = new Map(entries.flatMap((each) => (each.kind === 'change' ? [[each.seq, each]] : [])))
  const intents = new Map(entries.flatMap((each) => (each.kind === 'intent' ? [[each.id, each]] : [])))
  const records = entries.flatMap((entry): SpanRecord[] => {
    switch (entry.kind) {
      case 'change':
        return ofChange(entry, intents.get(entry.writtenBy ?? ''))
      case 'intent':
        return ofIntent(entry, changes.get(entry.causeSeq))
      case 'outcome':
        return ofOutcome(entry, intents.get(entry.intentId))
      case 'unreadable':
        return []
    }
  })
  const parts = (['watcher', 'translator', 'writer'] as const).map((part) => ({
    part,
    spans: records.filter((each) => each.part === part),
  }))
  return {
    resourceSpans: parts
      .filter(({ spans }) => spans.length > 0)
      .map(({ part, spans }) => ({
        resource: { attributes: attributes({ 'service.namespace': 'causeway', 'service.name': `causeway-${part}` }) },
        scopeSpans: [{ scope: { name: 'causeway' }, spans: spans.map(toOtlp) }],
      })),
  }
}

function ofChange(change: ChangeEntry, writtenBy: IntentEntry | undefined): SpanRecord[] {
  const { observedAt, at, type, object, side } = change
  const [watch, ...others] = changeSpans(
    contextOf(change, `change/${change.seq}`),
    { ...object, side },
    { observedAt, storedAt: at, type },
  )
  if (watch === undefined) return []
  // The log knows which write it is the echo of: nearer than what its trace says.
  const link =
    writtenBy === undefined
      ? []
      : [{ traceId: contextOf(writtenBy, writtenBy.id).traceId, spanId: spanIdOf(`${writtenBy.id}/write`) }]
  return [{ ...watch, links: link }, ...others]
}

function ofIntent(intent: IntentEntry, cause: ChangeEntry | undefined): SpanRecord[] {
  const { at, decidedAt } = intent
  const loggedAt = cause === undefined ? decidedAt : Math.min(cause.at, decidedAt)
  const spans = decisionSpans(contextOf(intent, intent.id), traced(intent), { loggedAt, decidedAt, sentAt: at })
  // Of what no change caused there is no span above.
  return intent.traceparent === undefined ? spans.map((span) => withoutParent(span, spanIdOf(intent.id))) : spans
}

function ofOutcome(outcome: OutcomeEntry, intent: IntentEntry | undefined): SpanRecord[] {
  const { intentId, op, attempt, result, reason, finishedAt, stages, object, side } = outcome
  const startedAt = finishedAt - stages.api
  const about =
    intent === undefined ? { id: intentId, op, rule: '', attempt, target: { ...object, side } } : traced(intent)
  return writeSpans(contextOf(intent ?? outcome, intentId), about, {
    intentAt: startedAt - stages.queue,
    startedAt,
    finishedAt,
    result,
    reason,
    exchanges: stages.api > 0 ? exchangeOf(outcome, startedAt) : [],
  })
}

const METHODS: Record<string, string> = {
  create: 'POST',
  bind: 'POST',
  announce: 'POST',
  patch: 'PATCH',
  delete: 'DELETE',
}

/** The request that a write was, as far as the log tells. */
function exchangeOf({ op, object, finishedAt, result, reason }: OutcomeEntry, from: number): Exchange[] {
  const method = METHODS[op]
  const resource = knownResource(object.resource)
  if (method === undefined || resource === undefined) return []
  const { namespace, name } = object
  const path = resourcePath(resource, { namespace, ...(method === 'POST' && op !== 'bind' ? {} : { name }) })
  const failure = isFailure(result) ? { error: reason ?? result } : {}
  return [{ method, path: op === 'bind' ? `${path}/binding` : path, from, until: finishedAt, ...failure }]
}

function traced({ id, object, side, op, rule, attempt }: IntentEntry) {
  return { id, target: { ...object, side }, op, rule, attempt }
}

function withoutParent(span: SpanRecord, root: string): SpanRecord {
  if (span.spanId !== root) return span
  const { parentSpanId: _none, ...rest } = span
  return rest
}

/** The trace and span that an entry's `traceparent` names, or ones that follow from what it is. */
function contextOf(entry: StoryEntry, id: string): TraceContext {
  return parseTraceparent(entry.traceparent) ?? { traceId: traceIdOf(id), spanId: spanIdOf(id), sampled: false }
}

const KINDS = { internal: 1, client: 3, producer: 4, consumer: 5 } as const
const ERROR = 2

function toOtlp(span: SpanRecord): OtlpSpan {
  const { traceId, spanId, parentSpanId, name, kind, from, until, links, error } = span
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanos(from),
    endTimeUnixNano: nanos(Math.max(from, until)),
    attributes: attributes(span.attributes),
    links: links.map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
    status: error === undefined ? { code: 0 } : { code: ERROR, message: error },
  }
}

function attributes(values: SpanRecord['attributes']): Attribute[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: valueOf(value) }))
}

function valueOf(value: string | number | boolean): Value {
  if (typeof value === 'string') return { stringValue: value }
  return typeof value === 'number' ? { intValue: String(value) } : { boolValue: value }
}

function nanos(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n)
}
