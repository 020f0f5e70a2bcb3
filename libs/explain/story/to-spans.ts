import { sha256Hex } from '#libs/kernel'
import type { ChangeEntry, IntentEntry, OutcomeEntry, StoryEntry } from './story-entry.ts'

type Value = { stringValue: string } | { intValue: string }
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

type Part = 'watcher' | 'translator' | 'writer'
type Context = { traceId: string; spanId: string }

/**
 * The spans of a story, built from the log's own times: for each change one from the watch event until it was stored, and
 * below it each write from the decision to the API's answer. What comes back from the host as the echo of a write, or
 * follows from it, links to the span that made it. To be sent to any OTLP endpoint.
 */
export function storySpans(entries: readonly StoryEntry[]): OtlpTraces {
  const spans: Record<Part, OtlpSpan[]> = { watcher: [], translator: [], writer: [] }
  const changes = new Map(entries.flatMap((each) => (each.kind === 'change' ? [[each.seq, each]] : [])))
  const intents = new Map(entries.flatMap((each) => (each.kind === 'intent' ? [[each.id, each]] : [])))
  for (const entry of entries) {
    if (entry.kind === 'change') spans.watcher.push(changeSpan(entry, intents.get(entry.writtenBy ?? '')))
    if (entry.kind === 'intent') spans.translator.push(decisionSpan(entry, changes.get(entry.causeSeq)))
    if (entry.kind === 'outcome') spans.writer.push(...writeSpans(entry, intents.get(entry.intentId)))
  }
  return {
    resourceSpans: Object.entries(spans).flatMap(([part, of]) =>
      of.length === 0
        ? []
        : [
            {
              resource: { attributes: [text('service.name', part), text('service.namespace', 'causeway')] },
              scopeSpans: [{ scope: { name: 'causeway.trace' }, spans: of }],
            },
          ],
    ),
  }
}

function changeSpan(change: ChangeEntry, writtenBy: IntentEntry | undefined): OtlpSpan {
  const { type, observedAt, at, resourceVersion, seq, object } = change
  return {
    ...contextOf(change, `change/${seq}`),
    name: `publish ${type} ${object.resource}`,
    kind: 4,
    ...times(observedAt, at),
    attributes: [
      ...about(change),
      text('k8s.object.resource_version', resourceVersion),
      number('messaging.nats.stream.sequence', seq),
    ],
    links:
      writtenBy === undefined
        ? []
        : [{ traceId: contextOf(writtenBy, writtenBy.id).traceId, spanId: idOf(`${writtenBy.id}/write`) }],
    status: { code: 0 },
  }
}

function decisionSpan(intent: IntentEntry, cause: ChangeEntry | undefined): OtlpSpan {
  const { id, rule, op, at, attempt, decidedAt } = intent
  const parent = contextOf(intent, id)
  const from = cause === undefined ? decidedAt : Math.min(cause.at, decidedAt)
  return {
    traceId: parent.traceId,
    spanId: idOf(id),
    ...(intent.traceparent === undefined ? {} : { parentSpanId: parent.spanId }),
    name: `decide ${rule}`,
    kind: 5,
    ...times(from, at),
    attributes: [
      ...about(intent),
      text('causeway.rule', rule),
      text('causeway.op', op),
      number('causeway.attempt', attempt),
    ],
    links: [],
    status: { code: 0 },
  }
}

function writeSpans(outcome: OutcomeEntry, intent: IntentEntry | undefined): OtlpSpan[] {
  const { intentId, op, result, reason, message, finishedAt, stages } = outcome
  const { traceId } = contextOf(intent ?? outcome, intentId)
  const begun = finishedAt - stages.api
  const isBad = result === 'parked' || result === 'refused'
  const said = [reason, message].filter((word) => word !== undefined).join(': ')
  const common = { traceId, parentSpanId: idOf(intentId), links: [] }
  return [
    {
      ...common,
      spanId: idOf(`${intentId}/queue`),
      name: 'queue',
      kind: 1,
      ...times(begun - stages.queue, begun),
      attributes: about(outcome),
      status: { code: 0 },
    },
    {
      ...common,
      spanId: idOf(`${intentId}/write`),
      name: `${op} ${outcome.object.resource}`,
      kind: 3,
      ...times(begun, finishedAt),
      attributes: [
        ...about(outcome),
        text('causeway.result', result),
        ...(reason === undefined ? [] : [text('causeway.reason', reason)]),
      ],
      status: isBad ? { code: 2, message: said } : { code: 1 },
    },
  ]
}

/** The trace and span that an entry's `traceparent` names, or ones that follow from what it is. */
function contextOf(entry: StoryEntry, id: string): Context {
  const [, traceId, spanId] = entry.traceparent?.split('-') ?? []
  return { traceId: traceId ?? sha256Hex(id).slice(0, 32), spanId: spanId ?? idOf(id) }
}

function idOf(id: string): string {
  return sha256Hex(id).slice(0, 16)
}

function about({ object, side }: StoryEntry): Attribute[] {
  return [
    text('causeway.tenant', object.tenant),
    text('causeway.side', side),
    text('k8s.resource', object.resource),
    text('k8s.namespace.name', object.namespace),
    text('k8s.object.name', object.name),
  ]
}

function text(key: string, value: string): Attribute {
  return { key, value: { stringValue: value } }
}

function number(key: string, value: number): Attribute {
  return { key, value: { intValue: String(value) } }
}

function times(from: number, until: number): Pick<OtlpSpan, 'startTimeUnixNano' | 'endTimeUnixNano'> {
  const nanos = (ms: number): string => String(BigInt(Math.round(ms * 1_000)) * 1_000n)
  return { startTimeUnixNano: nanos(from), endTimeUnixNano: nanos(Math.max(from, until)) }
}
