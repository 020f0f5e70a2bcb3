import type { Link } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import type { Registry } from 'prom-client'
import { counter } from './metrics.ts'
import { METRICS } from './names.ts'
import { SpanOutbox } from './span-outbox.ts'
import type { SpanRecord, TracedPart } from './span-record.ts'
import { type TraceContext, newTrace } from './trace-context.ts'
import { isTracingAsked, parseSampling } from './trace-settings.ts'
import { NO_TRACING, type Tracing } from './tracing.ts'

/** Spans that may wait to be sent: some megabytes. */
const CAPACITY = 8_192
const BATCH = 512
const EVERY_MS = 1_000
/** How long the end of the process waits for the last spans. */
const CLOSE_MS = 2_000
/** Share of the room for traces that are not sampled: an API that is down must not crowd out the sampled ones. */
const UNSAMPLED_SHARE = 0.5
/** Spans of such traces that are remembered. */
const RECENT = 4_096

export type TracingOptions = {
  /** `OTEL_*`, as OpenTelemetry describes them. */
  env: NodeJS.ProcessEnv
  registry: Registry
  /** Name of the process among the members. */
  instance: string
  slowMs: number
}

/**
 * Opens the way to the OTLP endpoint (HTTP, JSON) that the environment names; without one there is no tracing. Packages
 * are loaded only if there is.
 * @throws ConfigError for sampling that cannot be understood
 */
export async function openTracing(options: TracingOptions): Promise<Tracing> {
  const { env, registry, slowMs } = options
  const spans = counter(registry, METRICS.traceSpans)
  for (const result of ['exported', 'failed', 'dropped']) spans.inc({ result }, 0)
  if (!isTracingAsked(env)) return NO_TRACING
  const sampling = parseSampling(env)
  const { ROOT_CONTEXT, SpanKind, trace } = await import('@opentelemetry/api')
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http')
  const { ParentBasedSampler, SamplingDecision, TraceIdRatioBasedSampler } = await import('@opentelemetry/sdk-trace')
  const toReadable = await readableSpans(options.instance)
  const exporter = new OTLPTraceExporter({ concurrencyLimit: 1 })
  const root = new TraceIdRatioBasedSampler(sampling.ratio)
  const sampler = sampling.isParentBased ? new ParentBasedSampler({ root }) : root
  const outbox = new SpanOutbox<ReadableSpan>({
    sink: (batch, done) => exporter.export(batch, ({ code }) => done(code === 0)),
    capacity: CAPACITY,
    batch: BATCH,
    everyMs: EVERY_MS,
    counted: (result, count) => spans.inc({ result }, count),
  })
  // Several writes may follow from one change: its spans are told of with the first that failed.
  const told = recentIds(RECENT)
  const isSampled = (traceId: string, parent?: TraceContext): boolean => {
    const context =
      parent === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceFlags: parent.sampled ? 1 : 0, isRemote: true })
    const { decision } = sampler.shouldSample(context, traceId, 'watch', SpanKind.INTERNAL, {}, [])
    return decision === SamplingDecision.RECORD_AND_SAMPLED
  }
  return {
    isOn: true,
    slowMs,
    begin: (madeBy) => {
      const begun = newTrace()
      return { ...begun, sampled: isSampled(begun.traceId, madeBy) }
    },
    wants: (context) => isSampled(context.traceId, context),
    record: (records) => outbox.add(records.map(toReadable)),
    recordUnsampled: (records) => {
      const fresh = records.filter(({ spanId }) => told.add(spanId))
      outbox.add(fresh.map(toReadable), UNSAMPLED_SHARE)
    },
    close: async () => {
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, CLOSE_MS)
      await Promise.race([outbox.flush(), late.promise])
      clearTimeout(timer)
      // What it still tries to send would keep the process from ending.
      void exporter.shutdown().catch(() => undefined)
    },
  }
}

/** Remembers the last ids. */
function recentIds(limit: number): { add(id: string): boolean } {
  const ids = new Set<string>()
  return {
    add: (id) => {
      if (ids.has(id)) return false
      ids.add(id)
      if (ids.size > limit) for (const oldest of ids.values().take(1)) ids.delete(oldest)
      return true
    },
  }
}

/** Spans in the form that the exporter takes. */
async function readableSpans(instance: string): Promise<(record: SpanRecord) => ReadableSpan> {
  const { SpanKind, SpanStatusCode } = await import('@opentelemetry/api')
  const { detectResources, resourceAttributesEnvDetector, resourceFromAttributes } =
    await import('@opentelemetry/resources')
  const given = detectResources({ detectors: [resourceAttributesEnvDetector] })
  const resourceOf = (part: TracedPart) =>
    resourceFromAttributes({
      'service.namespace': 'causeway',
      'service.name': `causeway-${part}`,
      'service.instance.id': instance,
    }).merge(given)
  const resources = {
    watcher: resourceOf('watcher'),
    translator: resourceOf('translator'),
    writer: resourceOf('writer'),
  }
  const kinds = {
    internal: SpanKind.INTERNAL,
    client: SpanKind.CLIENT,
    producer: SpanKind.PRODUCER,
    consumer: SpanKind.CONSUMER,
  }
  const contextOf = (traceId: string, spanId: string) => ({ traceId, spanId, traceFlags: 1 })
  const linkTo = ({ traceId, spanId }: SpanRecord['links'][number]): Link => ({ context: contextOf(traceId, spanId) })
  return ({ part, traceId, spanId, parentSpanId, name, kind, from, until, attributes, links, error }) => {
    const context = contextOf(traceId, spanId)
    const duration = Math.max(0, until - from)
    return {
      name,
      kind: kinds[kind],
      spanContext: () => context,
      ...(parentSpanId === undefined ? {} : { parentSpanContext: contextOf(traceId, parentSpanId) }),
      startTime: hrTime(from),
      endTime: hrTime(from + duration),
      duration: hrTime(duration),
      status: error === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: error },
      attributes,
      links: links.map(linkTo),
      events: [],
      ended: true,
      resource: resources[part],
      instrumentationScope: { name: 'causeway' },
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    }
  }
}

function hrTime(ms: number): [seconds: number, nanos: number] {
  const seconds = Math.floor(ms / 1_000)
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000) * 1_000]
}
