import { afterAll, beforeAll, expect, test } from 'vitest'
import { METRICS } from '#libs/telemetry'
import { type Installation, startUp } from '../harness/installation.ts'
import { isRunning, podOf, secretOf } from '../harness/objects.ts'
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../harness/otlp-receiver.ts'
import { type SidesView, openView } from '../harness/world.ts'

const WAIT = { timeout: 60_000, interval: 100 }

let receiver: OtlpReceiver
let up: Installation
let sides: SidesView

beforeAll(async () => {
  receiver = await startOtlpReceiver()
  await begin({ OTEL_TRACES_SAMPLER: 'parentbased_always_on' })
})
afterAll(async () => {
  await sides?.close()
  await up?.dispose()
  await receiver?.close()
})

async function begin(env: Record<string, string>, before?: Installation): Promise<void> {
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, ...env }
  up = await (before === undefined
    ? startUp({ separate: true, tenants: ['a', 'b'], env: all })
    : before.restart({ env: all }))
  const { host: _host, ...tenants } = up.ready.kubeconfigs
  sides = await openView({ host: up.ready.hostKubeconfig, tenants })
}

const spansOf = (traceId: string): ReceivedSpan[] => receiver.spans.filter((span) => span.traceId === traceId)

/** The spans of the write of one object, once they are there, and those of their trace. */
async function spansOfWrite(op: string, name: string): Promise<{ write: ReceivedSpan; trace: ReceivedSpan[] }> {
  const find = (): ReceivedSpan | undefined =>
    receiver.spans.find(
      ({ name: is, attributes }) =>
        is === 'process INTENTS' && attributes['causeway.op'] === op && attributes['k8s.pod.name'] === name,
    )
  await expect.poll(find, WAIT).toBeDefined()
  const write = find()
  if (write === undefined) throw new Error('no span of the write')
  const services = (): Set<string> => new Set(spansOf(write.traceId).map(({ service }) => service))
  await expect.poll(() => services().size, WAIT).toBe(3)
  return { write, trace: spansOf(write.traceId) }
}

function expectOneTree(trace: readonly ReceivedSpan[]): ReceivedSpan {
  const ids = new Set(trace.map(({ spanId }) => spanId))
  const roots = trace.filter(({ parentSpanId }) => parentSpanId === '')
  expect(ids.size).toBe(trace.length)
  expect(roots.map(({ name, service }) => `${service} ${name}`)).toEqual(['causeway-watcher watch'])
  expect(trace.filter(({ parentSpanId }) => parentSpanId !== '' && !ids.has(parentSpanId))).toEqual([])
  return roots[0] as ReceivedSpan
}

/** How much of the time from the first to the last of the spans one of them covers, in ms. */
function covered(spans: readonly ReceivedSpan[]): number {
  let until = 0
  let sum = 0
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    sum += Math.max(0, span.until - Math.max(until, span.from))
    until = Math.max(until, span.until)
  }
  return sum
}

test('one sync is one tree of spans of all three services, whose stages add up to its time', async () => {
  const [tenant] = sides.tenants
  const namespace = await tenant.namespace()
  const ref = { namespace, name: 'web' }
  await tenant.cluster.create(podOf(namespace, 'web'))
  await tenant.cluster.until('pods', ref, isRunning)
  const copy = tenant.copyOf(ref)
  const { write, trace } = await spansOfWrite('create', copy.name)
  const root = expectOneTree(trace)
  const ofWrite = (name: string): ReceivedSpan | undefined =>
    trace.find((span) => span.name === name && span.parentSpanId === write.spanId)
  const decision = trace.find(({ spanId }) => spanId === write.parentSpanId)
  const queue = ofWrite('queue')
  const call = ofWrite('POST /api/v1/namespaces/{namespace}/pods')
  expect(decision).toMatchObject({ service: 'causeway-translator', name: 'process CHANGES', parentSpanId: root.spanId })
  expect(call).toMatchObject({
    service: 'causeway-writer',
    attributes: { 'http.request.method': 'POST', 'http.response.status_code': 201, 'server.address': '127.0.0.1' },
  })
  expect(root.attributes).toMatchObject({
    'causeway.tenant': 'a',
    'k8s.namespace.name': namespace,
    'k8s.pod.name': 'web',
  })
  const sent = trace.filter(({ name }) => name.startsWith('send '))
  expect(new Set(sent.map(({ name }) => name))).toEqual(new Set(['send CHANGES', 'send INTENTS']))
  for (const { attributes } of sent) {
    expect(attributes).toMatchObject({ 'messaging.system': 'nats', 'messaging.operation.type': 'send' })
  }

  // What the log says of the same sync, by its own times.
  const story = await up.command('trace', 'pod/web', '-n', namespace, '-t', 'a', '-o', 'json')
  const outcome = story.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { kind: string; op?: string; stages?: { total: number } })
    .find(({ kind, op }) => kind === 'outcome' && op === 'create')
  const total = outcome?.stages?.total ?? 0
  const api = { ...write, from: queue?.until ?? 0 }
  const sum = covered([root, decision, queue, api].filter((span) => span !== undefined))
  expect(total).toBeGreaterThan(0)
  expect([call?.from, call?.until].filter((at = 0) => at < api.from || at > api.until)).toEqual([])
  expect(Math.abs(write.until - root.from - total)).toBeLessThan(total * 0.05)
  expect(Math.abs(sum - total)).toBeLessThan(total * 0.05)
})

test('the status that comes back links to the trace that made the copy', async () => {
  const [tenant] = sides.tenants
  const namespace = await tenant.namespace()
  const ref = { namespace, name: 'back' }
  await tenant.cluster.create(podOf(namespace, 'back'))
  await tenant.cluster.until('pods', ref, isRunning)
  const copy = tenant.copyOf(ref)
  const { trace } = await spansOfWrite('create', copy.name)
  const made = expectOneTree(trace)
  const backs = (): ReceivedSpan[] =>
    receiver.spans.filter(
      ({ name, attributes }) =>
        name === 'watch' && attributes['causeway.side'] === 'host' && attributes['k8s.pod.name'] === copy.name,
    )
  await expect.poll(() => backs().length, WAIT).toBeGreaterThan(0)
  for (const { links, traceId } of backs()) {
    expect(traceId).not.toBe(made.traceId)
    expect(links).toEqual([{ traceId: made.traceId, spanId: made.spanId }])
  }
  // A patch may also follow from a change of the tenant's own side, such as the echo of the binding.
  const linked = (): boolean => {
    const patches = receiver.spans.filter(
      ({ name, attributes }) =>
        name === 'process INTENTS' && attributes['causeway.op'] === 'patch' && attributes['k8s.pod.name'] === 'back',
    )
    const roots = patches.flatMap((patch) => spansOf(patch.traceId).filter(({ parentSpanId }) => parentSpanId === ''))
    return roots.some(({ links }) => links.some(({ spanId }) => spanId === made.spanId))
  }
  await expect.poll(linked, WAIT).toBe(true)
})

test('spans hold nothing of what a tenant wrote', async () => {
  const [tenant] = sides.tenants
  const namespace = await tenant.namespace()
  await tenant.cluster.create(secretOf(namespace, 'login', { password: 'hunter22' }))
  await tenant.cluster.create(podOf(namespace, 'uses', { secret: 'login', labels: { word: 'marmalade' } }))
  await tenant.cluster.until('pods', { namespace, name: 'uses' }, isRunning)
  await spansOfWrite('create', tenant.copyOf({ namespace, name: 'uses' }).name)
  const text = JSON.stringify(receiver.spans)
  for (const word of ['hunter22', Buffer.from('hunter22').toString('base64'), 'marmalade']) {
    expect(text).not.toContain(word)
  }
})

test('every service tells its metrics, as they are declared, and of no object by name', async () => {
  const [tenant] = sides.tenants
  const namespace = await tenant.namespace('metered')
  await tenant.cluster.create(podOf(namespace, 'metered-pod'))
  await tenant.cluster.until('pods', { namespace, name: 'metered-pod' }, isRunning)
  const declared = new Map<string, string>(Object.values(METRICS).map(({ name, help }) => [name, help]))
  const services = ['watcher', 'translator', 'writer']
  const told = await Promise.all(
    services.map(async (service) => (await fetch(`${up.ready.health[service]}/metrics`)).text()),
  )
  const names = told.flatMap((text) => [...text.matchAll(/^# HELP (causeway_\w+) (.+)$/gm)])
  expect(names.filter(([, name = '', help]) => declared.get(name) !== help)).toEqual([])
  // The console is not started here.
  const theirs = [...declared.keys()].filter((name) => !name.startsWith('causeway_console_'))
  expect(new Set(names.map(([, name]) => name))).toEqual(new Set(theirs))
  const series = told.flatMap((text) => text.split('\n').filter((line) => line.startsWith('causeway_')))
  expect(series.filter((line) => /metered|causeway-a/.test(line))).toEqual([])
  expect(series.filter((line) => line.includes('tenant=') && !line.startsWith('causeway_tenant_'))).toEqual([])
  expect(series).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^causeway_sync_seconds_count\{direction="toHost",resource="pods"\} [1-9]/),
      expect.stringMatching(/^causeway_trace_spans_total\{result="exported"\} [1-9]/),
    ]),
  )
})

test('with a rate of 0 a sync that fails is traced as a whole, and no other', async () => {
  await sides.close()
  await up.stop()
  const before = receiver.spans.length
  await begin(
    {
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0',
      CAUSEWAY_TRACE_SLOW_SECONDS: '3600',
    },
    up,
  )
  const [tenant] = sides.tenants
  const namespace = await tenant.namespace()
  const copy = tenant.copyOf({ namespace, name: 'taken' })
  await sides.host.create(podOf(copy.namespace, copy.name, { labels: { owner: 'somebody-else' } }))
  await tenant.cluster.create(podOf(namespace, 'fine'))
  await tenant.cluster.until('pods', { namespace, name: 'fine' }, isRunning)
  await tenant.cluster.create(podOf(namespace, 'taken'))
  const { write, trace } = await spansOfWrite('create', copy.name)
  expectOneTree(trace)
  expect(write).toMatchObject({ isError: true, attributes: { 'error.type': 'ForeignObject' } })
  expect(trace.map(({ name }) => name)).toEqual(expect.arrayContaining(['watch', 'process CHANGES', 'queue']))
  expect(trace.filter(({ name }) => name.startsWith('POST '))).toMatchObject([
    { isError: true, attributes: { 'http.response.status_code': 409 } },
  ])
  expect(receiver.spans.slice(before).filter(({ traceId }) => traceId !== write.traceId)).toEqual([])
})
