import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import {
  NO_TRACING,
  type Traced,
  changeSpans,
  decisionSpans,
  formatTraceparent,
  openTracing,
  parseTraceparent,
  writeSpans,
} from './index.ts'
import { SpanOutbox } from './span-outbox.ts'
import { urlTemplate } from './sync-spans.ts'
import { parseSampling } from './trace-settings.ts'

const context = { traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8), sampled: true }
const target: Traced = { tenant: 'a', side: 'host', resource: 'pods', namespace: 'h', name: 'web-x' }
const intent = { id: 'a/host/pods/h/web-x/create/d/1/0', target, op: 'create', rule: 'create', attempt: 0 }

test('a context survives the way through a header', () => {
  expect(parseTraceparent(formatTraceparent(context))).toEqual(context)
  expect(parseTraceparent(formatTraceparent({ ...context, sampled: false }))?.sampled).toBe(false)
  for (const text of [undefined, '', '00-a-b-00', 'x']) expect(parseTraceparent(text)).toBeUndefined()
})

test('spans made in three processes, from ids alone, are one tree', () => {
  const times = { loggedAt: 2, decidedAt: 3, sentAt: 4 }
  const spans = [
    ...changeSpans(context, target, { observedAt: 1, storedAt: 2 }),
    ...decisionSpans(context, intent, times),
    ...writeSpans(context, intent, { intentAt: 4, startedAt: 5, finishedAt: 9, result: 'done', exchanges: [] }),
  ]
  const ids = new Set(spans.map(({ spanId }) => spanId))
  expect(ids.size).toBe(spans.length)
  expect(spans.filter(({ parentSpanId }) => parentSpanId === undefined).map(({ name }) => name)).toEqual(['watch'])
  expect(spans.every(({ parentSpanId }) => parentSpanId === undefined || ids.has(parentSpanId))).toBe(true)
})

test('a decision about a batch links to the changes before the last', () => {
  const earlier = [formatTraceparent({ ...context, spanId: '11'.repeat(8) }), 'no context']
  const [decision] = decisionSpans(context, intent, { loggedAt: 1, decidedAt: 2, sentAt: 3, earlier })
  expect(decision?.links).toMatchObject([{ spanId: '11'.repeat(8) }])
})

test('a request without an answer is an error, and its name holds no object’s', () => {
  const path = '/api/v1/namespaces/h/pods/web-x/status'
  const exchange = { method: 'PATCH', path, server: 'https://host:6443', from: 5, until: 9, error: 'ECONNREFUSED' }
  const times = { intentAt: 4, startedAt: 5, finishedAt: 9 }
  const reason = 'ApiUnavailable'
  const spans = writeSpans(context, intent, { ...times, result: 'parked', reason, exchanges: [exchange] })
  expect(spans.at(-1)).toMatchObject({
    name: 'PATCH /api/v1/namespaces/{namespace}/pods/{name}/status',
    error: 'ECONNREFUSED',
    attributes: { 'server.address': 'host', 'server.port': 6443, 'error.type': 'ECONNREFUSED' },
  })
  expect(spans[0]).toMatchObject({ error: reason })
})

test.for([
  ['/api/v1/namespaces', '/api/v1/namespaces'],
  ['/api/v1/namespaces/a', '/api/v1/namespaces/{name}'],
  ['/api/v1/nodes/n/status', '/api/v1/nodes/{name}/status'],
  ['/apis/apps/v1/namespaces/a/deployments/d', '/apis/apps/v1/namespaces/{namespace}/deployments/{name}'],
  ['/version', '/version'],
] as const)('%s is a request to %s', ([path, template]) => {
  expect(urlTemplate(path)).toBe(template)
})

test('sampling is what OpenTelemetry’s variables say, and nothing is guessed at', () => {
  expect(parseSampling({})).toEqual({ isParentBased: true, ratio: 1 })
  const env = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' }
  expect(parseSampling(env)).toEqual({ isParentBased: true, ratio: 0.01 })
  expect(() => parseSampling({ OTEL_TRACES_SAMPLER: 'some' })).toThrow(/OTEL_TRACES_SAMPLER: some is not known/)
  expect(() => parseSampling({ ...env, OTEL_TRACES_SAMPLER_ARG: '1%' })).toThrow(/from 0 to 1/)
})

test('without an endpoint nothing is recorded and nothing counted', async () => {
  const registry = new Registry()
  const tracing = await openTracing({ env: {}, registry, instance: 'i', slowMs: 1 })
  expect(tracing).toBe(NO_TRACING)
  expect(tracing.begin().sampled).toBe(false)
  expect(await registry.metrics()).toContain('causeway_trace_spans_total{result="dropped"} 0')
})

test('an endpoint that never answers holds nothing up, and what it does not take is counted', async () => {
  const server = createServer(() => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const endpoint = `http://127.0.0.1:${port}`
  const registry = new Registry()
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = endpoint
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }
  const tracing = await openTracing({ env, registry, instance: 'i', slowMs: 1 })
  delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT']
  const spans = changeSpans(tracing.begin(), target, { observedAt: 1, storedAt: 2 })
  for (let index = 0; index < 10_000; index++) tracing.record(spans)
  await expect.poll(() => registry.metrics()).toMatch(/causeway_trace_spans_total\{result="dropped"\} [1-9]/)
  const begun = Date.now()
  await tracing.close()
  expect(Date.now() - begun).toBeLessThan(10_000)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

test('the change of several writes that failed is told of once', async () => {
  const received: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.once('end', () => {
      received.push(...[...body.matchAll(/"name":"(watch|send CHANGES)"/g)].map((match) => match[1] ?? ''))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = endpoint
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER: 'always_off' }
  const tracing = await openTracing({ env, registry: new Registry(), instance: 'i', slowMs: 1 })
  delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT']
  const spans = changeSpans(tracing.begin(), target, { observedAt: 1, storedAt: 2 })
  tracing.recordUnsampled(spans)
  tracing.recordUnsampled(spans)
  await tracing.close()
  expect(received.toSorted()).toEqual(['send CHANGES', 'watch'])
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

test('what comes back is sampled as the trace that it comes back from', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_TRACES_SAMPLER: 'parentbased_always_off' }
  const tracing = await openTracing({ env, registry: new Registry(), instance: 'i', slowMs: 1 })
  expect(tracing.begin().sampled).toBe(false)
  expect(tracing.begin(context).sampled).toBe(true)
  expect(tracing.wants(context)).toBe(true)
  await tracing.close()
})

test('spans go in batches, one after the other, and the last with the end', async () => {
  const batches: number[][] = []
  const counts: Record<string, number> = {}
  const outbox = new SpanOutbox<number>({
    sink: (spans, done) => {
      batches.push(spans)
      queueMicrotask(() => done(batches.length !== 2))
    },
    capacity: 10,
    batch: 4,
    everyMs: 60_000,
    counted: (result, spans) => {
      counts[result] = (counts[result] ?? 0) + spans
    },
  })
  outbox.add([1, 2, 3])
  outbox.add([4, 5, 6])
  outbox.add([7, 8], 0.3)
  await outbox.flush()
  expect(batches).toEqual([
    [1, 2, 3, 4],
    [5, 6],
  ])
  expect(counts).toEqual({ exported: 4, failed: 2, dropped: 2 })
})
