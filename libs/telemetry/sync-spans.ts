import type { SpanRecord } from './span-record.ts'
import { type TraceContext, parseTraceparent, spanIdOf } from './trace-context.ts'

/*
 * The spans of one sync. Names and attributes are those of OpenTelemetry's semantic conventions for messaging, HTTP and
 * Kubernetes where they have one. Ids follow from the trace that the messages carry and from the ids of intents, so each
 * process knows the parents of its spans, and whoever knows all times can make the whole trace.
 */

/** What spans are about. */
export type Traced = { tenant: string; side: string; resource: string; namespace: string; name: string }

export type ChangeTimes = {
  observedAt: number
  /** When the log had it, or refused it. */
  storedAt: number
}

/** The spans of a change: from the watch event until it is in the log. */
export function changeSpans(
  context: TraceContext,
  about: Traced,
  change: ChangeTimes & { type?: string; madeBy?: string | undefined; error?: string },
): SpanRecord[] {
  const { observedAt, storedAt, type, madeBy, error } = change
  const maker = parseTraceparent(madeBy)
  const common = {
    part: 'watcher' as const,
    traceId: context.traceId,
    from: observedAt,
    until: storedAt,
    ...(error === undefined ? {} : { error }),
  }
  return [
    {
      ...common,
      spanId: context.spanId,
      name: 'watch',
      kind: 'internal',
      attributes: { ...identity(about), ...(type === undefined ? {} : { 'causeway.change.type': type }) },
      links: maker === undefined ? [] : [maker],
    },
    {
      ...common,
      spanId: spanIdOf(`${context.traceId}/${context.spanId}/send`),
      parentSpanId: context.spanId,
      name: 'send CHANGES',
      kind: 'producer',
      attributes: messaging('send', 'CHANGES'),
      links: [],
    },
  ]
}

export type TracedIntent = { id: string; target: Traced; op: string; rule: string; attempt: number }

/** The spans of a decision: from its change in the log until the intent is. */
export function decisionSpans(
  context: TraceContext,
  intent: TracedIntent,
  decision: {
    loggedAt: number
    decidedAt: number
    sentAt: number
    /** `traceparent`s of earlier changes of the batch, that this decision is about as well. */
    earlier?: readonly string[]
    error?: string
  },
): SpanRecord[] {
  const { loggedAt, decidedAt, sentAt, earlier = [], error } = decision
  const common = {
    part: 'translator' as const,
    traceId: context.traceId,
    until: sentAt,
    ...(error === undefined ? {} : { error }),
  }
  return [
    {
      ...common,
      spanId: spanIdOf(intent.id),
      parentSpanId: context.spanId,
      name: 'process CHANGES',
      kind: 'consumer',
      from: loggedAt,
      attributes: { ...messaging('process', 'CHANGES'), ...ofIntent(intent) },
      links: earlier.flatMap((each) => parseTraceparent(each) ?? []),
    },
    {
      ...common,
      spanId: spanIdOf(`${intent.id}/send`),
      parentSpanId: spanIdOf(intent.id),
      name: 'send INTENTS',
      kind: 'producer',
      from: decidedAt,
      attributes: messaging('send', 'INTENTS'),
      links: [],
    },
  ]
}

/** One request to an API and its answer. */
export type Exchange = {
  method: string
  /** Without query. */
  path: string
  server?: string
  status?: number
  /** Kind of the failure, where there was no answer. */
  error?: string
  from: number
  until: number
}

/** The spans of a write: the wait for its turn, and each request. */
export function writeSpans(
  context: TraceContext,
  intent: TracedIntent,
  write: {
    intentAt: number
    startedAt: number
    finishedAt: number
    result: string
    reason?: string | undefined
    exchanges: readonly Exchange[]
  },
): SpanRecord[] {
  const { intentAt, startedAt, finishedAt, result, reason, exchanges } = write
  const common = { part: 'writer' as const, traceId: context.traceId, links: [] }
  const spanId = spanIdOf(`${intent.id}/write`)
  return [
    {
      ...common,
      spanId,
      parentSpanId: spanIdOf(intent.id),
      name: 'process INTENTS',
      kind: 'consumer',
      from: intentAt,
      until: finishedAt,
      attributes: {
        ...messaging('process', 'INTENTS'),
        ...ofIntent(intent),
        'causeway.result': result,
        ...(reason === undefined ? {} : { 'causeway.reason': reason, 'error.type': reason }),
      },
      // Not the API's words: they may quote what a tenant wrote.
      ...(isFailure(result) ? { error: reason ?? result } : {}),
    },
    {
      ...common,
      spanId: spanIdOf(`${intent.id}/queue`),
      parentSpanId: spanId,
      name: 'queue',
      kind: 'internal',
      from: intentAt,
      until: startedAt,
      attributes: {},
    },
    ...exchanges.map((exchange, index) => ({
      ...common,
      spanId: spanIdOf(`${intent.id}/call/${index}`),
      parentSpanId: spanId,
      ...exchangeSpan(exchange),
    })),
  ]
}

/** Whether a write is traced whatever the sampling says. */
export function isFailure(result: string): boolean {
  return result === 'parked' || result === 'refused'
}

function exchangeSpan({ method, path, server, status, error, from, until }: Exchange) {
  const url = server === undefined ? undefined : new URL(path, server)
  const template = urlTemplate(path)
  const failure = error ?? (status !== undefined && status >= 400 ? String(status) : undefined)
  return {
    name: `${method} ${template}`,
    kind: 'client' as const,
    from,
    until,
    attributes: {
      'http.request.method': method,
      'url.template': template,
      ...(url === undefined
        ? {}
        : {
            'url.full': url.href,
            'server.address': url.hostname,
            'server.port': Number(url.port || (url.protocol === 'http:' ? 80 : 443)),
          }),
      ...(status === undefined ? {} : { 'http.response.status_code': status }),
      ...(failure === undefined ? {} : { 'error.type': failure }),
    },
    ...(failure === undefined ? {} : { error: failure }),
  }
}

const OBJECT_PATH = /^(\/api\/[^/]+|\/apis\/[^/]+\/[^/]+)(\/namespaces\/[^/]+(?=\/))?(\/[^/]+)(\/[^/]+)?(\/.+)?$/

/** A path of the API without the names in it. */
export function urlTemplate(path: string): string {
  const [, base, namespace, plural, name, rest = ''] = OBJECT_PATH.exec(path) ?? []
  if (base === undefined || plural === undefined) return path
  return `${base}${namespace === undefined ? '' : '/namespaces/{namespace}'}${plural}${name === undefined ? '' : '/{name}'}${rest}`
}

/** Kinds whose name has an attribute of its own in the conventions. */
const NAME_ATTRIBUTES: Record<string, string> = {
  pods: 'k8s.pod.name',
  nodes: 'k8s.node.name',
  namespaces: 'k8s.namespace.name',
  'deployments.apps': 'k8s.deployment.name',
  'replicasets.apps': 'k8s.replicaset.name',
  'statefulsets.apps': 'k8s.statefulset.name',
  'daemonsets.apps': 'k8s.daemonset.name',
  'jobs.batch': 'k8s.job.name',
  'cronjobs.batch': 'k8s.cronjob.name',
}

function identity({ tenant, side, resource, namespace, name }: Traced): SpanRecord['attributes'] {
  const named = NAME_ATTRIBUTES[resource]
  return {
    'causeway.tenant': tenant,
    'causeway.side': side,
    'causeway.resource': resource,
    'causeway.object.name': name,
    ...(namespace === '' ? {} : { 'k8s.namespace.name': namespace }),
    ...(named === undefined ? {} : { [named]: name }),
  }
}

function ofIntent({ id, target, op, rule, attempt }: TracedIntent): SpanRecord['attributes'] {
  return {
    ...identity(target),
    'messaging.message.id': id,
    'causeway.op': op,
    'causeway.rule': rule,
    'causeway.attempt': attempt,
  }
}

function messaging(type: 'send' | 'process', stream: string): SpanRecord['attributes'] {
  return {
    'messaging.system': 'nats',
    'messaging.destination.name': stream,
    'messaging.operation.name': type,
    'messaging.operation.type': type,
  }
}
