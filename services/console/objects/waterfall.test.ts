import { expect, test } from 'vitest'
import type { OtlpSpan, OtlpTraces } from '#libs/explain'
import { waterfall } from './waterfall.ts'

const T0 = 1_796_000_000_000

const span = (spanId: string, ms: [number, number], of: Partial<OtlpSpan> = {}): OtlpSpan => ({
  traceId: 't1',
  spanId,
  name: spanId,
  kind: 1,
  startTimeUnixNano: `${BigInt(T0 + ms[0]) * 1_000_000n}`,
  endTimeUnixNano: `${BigInt(T0 + ms[1]) * 1_000_000n}`,
  attributes: [],
  links: [],
  status: { code: 0 },
  ...of,
})

const traces = (of: Record<string, OtlpSpan[]>): OtlpTraces => ({
  resourceSpans: Object.entries(of).map(([service, spans]) => ({
    resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
    scopeSpans: [{ scope: { name: 'test' }, spans }],
  })),
})

test('each span stands below its parent, in order of time', () => {
  const view = waterfall(
    traces({
      watcher: [span('publish', [0, 10])],
      writer: [
        span('write', [30, 40], { parentSpanId: 'decide' }),
        span('queue', [20, 30], { parentSpanId: 'decide' }),
      ],
      translator: [span('decide', [10, 20], { parentSpanId: 'publish' })],
    }),
  )
  expect(view.traces).toMatchObject([{ traceId: 't1', start: T0, end: T0 + 40 }])
  expect(view.traces[0]?.bars.map(({ name, service, depth }) => [name, service, depth])).toEqual([
    ['publish', 'watcher', 0],
    ['decide', 'translator', 1],
    ['queue', 'writer', 2],
    ['write', 'writer', 2],
  ])
})

test('a span whose parent the log has lost is shown all the same, and errors say what was said', () => {
  const failed = span('write', [0, 5], { parentSpanId: 'gone', status: { code: 2, message: 'exceeded quota' } })
  expect(waterfall(traces({ writer: [failed] })).traces[0]?.bars).toMatchObject([
    { depth: 0, isError: true, message: 'exceeded quota' },
  ])
})

test('the latest trace comes first, and nothing is nothing', () => {
  const two = traces({ watcher: [span('a', [0, 1]), span('b', [5, 6], { traceId: 't2' })] })
  expect(waterfall(two).traces.map(({ traceId }) => traceId)).toEqual(['t2', 't1'])
  expect(waterfall({ resourceSpans: [] })).toEqual({ traces: [] })
})
