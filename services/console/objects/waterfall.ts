import type { OtlpSpan, OtlpTraces } from '#libs/explain'
import type { Bar, TraceView } from '../views.ts'

/** The latest traces are enough to look at; all of them are in `causeway trace -o otlp`. */
const TRACES = 20
const BARS = 200
const ERROR = 2

type Placed = { service: string; span: OtlpSpan }

/** Spans as the bars of a waterfall: the latest trace first, each span below its parent, in order of time. */
export function waterfall(spans: OtlpTraces): TraceView {
  const traces = new Map<string, Placed[]>()
  for (const { resource, scopeSpans } of spans.resourceSpans) {
    const name = resource.attributes.find(({ key }) => key === 'service.name')?.value
    const service = name !== undefined && 'stringValue' in name ? name.stringValue.replace(/^causeway-/, '') : ''
    for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
      traces.set(span.traceId, [...(traces.get(span.traceId) ?? []), { service, span }])
    }
  }
  return {
    traces: [...traces]
      .map(([traceId, placed]) => {
        const bars = barsOf(placed).slice(0, BARS)
        return {
          traceId,
          start: Math.min(...bars.map(({ start }) => start)),
          end: Math.max(...bars.map(({ end }) => end)),
          bars,
        }
      })
      .toSorted((a, b) => b.start - a.start)
      .slice(0, TRACES),
  }
}

function barsOf(placed: readonly Placed[]): Bar[] {
  const ids = new Set(placed.map(({ span }) => span.spanId))
  const below = new Map<string, Placed[]>()
  for (const each of placed) {
    const { parentSpanId } = each.span
    const parent = parentSpanId !== undefined && ids.has(parentSpanId) ? parentSpanId : ''
    below.set(parent, [...(below.get(parent) ?? []), each])
  }
  const walk = (parent: string, depth: number): Bar[] =>
    (below.get(parent) ?? [])
      .toSorted((a, b) => millis(a.span.startTimeUnixNano) - millis(b.span.startTimeUnixNano))
      .flatMap((each) => [bar(each, depth), ...walk(each.span.spanId, depth + 1)])
  return walk('', 0)
}

function bar({ service, span }: Placed, depth: number): Bar {
  const { spanId, name, startTimeUnixNano, endTimeUnixNano, status } = span
  return {
    id: spanId,
    depth,
    service,
    name,
    start: millis(startTimeUnixNano),
    end: millis(endTimeUnixNano),
    isError: status.code === ERROR,
    ...(status.message === undefined ? {} : { message: status.message }),
  }
}

/** Milliseconds, to the microsecond: as much as a number holds of a time. */
function millis(nanos: string): number {
  return Number(BigInt(nanos) / 1_000n) / 1_000
}
