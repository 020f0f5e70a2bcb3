import type { Readable } from 'node:stream'
import { request as send } from 'undici'
import type { Dispatcher } from 'undici'
import type { ClusterAccess, ClusterConfig, RefreshReason } from '../auth/cluster-config.ts'
import { KubeProtocolError, KubeConnectionError } from '../errors.ts'
import { openAgents, retireAgents } from './agents.ts'
import type { Agents } from './agents.ts'
import { connectionError, timeoutError } from './connection-error.ts'
import { openDeadline } from './deadline.ts'
import { readBody } from './read-body.ts'

type HttpRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Absolute path below the cluster's base URL, with its query. */
  path: string
  headers?: Record<string, string>
  body?: string | Uint8Array | undefined
  signal?: AbortSignal | undefined
  /** How long to wait for the headers of the answer; its body may take as long again. */
  timeoutMs?: number | undefined
}

type HttpAnswer = { statusCode: number; retryAfter: string | undefined; body: Buffer; server: string }

/** An answer that is read while it comes; one with another status than 200 is there as a whole. */
type HttpStream = { statusCode: 200; chunks: AsyncIterable<Buffer> } | HttpAnswer

export type TransportOptions = {
  config: ClusterConfig
  /** Off only as a way out when HTTP/2 misbehaves: HTTP/1.1 takes a new connection for each DELETE with a body. */
  http2: boolean
  timeoutMs: number
  maxBodyBytes: number
}

/** Sends requests to one cluster over connections it keeps. A 401 is tried once more with fresh credentials. */
export type Transport = {
  /** Scheme, host and port of the last request; undefined before the first. */
  origin(): string | undefined
  /** @throws KubeConnectionError, KubeProtocolError, or the signal's reason */
  request(request: HttpRequest): Promise<HttpAnswer>
  /** Resolves when the headers are there; aborting the signal ends the body. Throws as `request` does. */
  stream(request: HttpRequest & { signal: AbortSignal }): Promise<HttpStream>
  close(): Promise<void>
}

type Call = HttpRequest & { timeoutMs: number; access: ClusterAccess; dispatcher: Dispatcher }

/** Creates a transport; nothing is connected before the first request. */
export function createTransport(options: TransportOptions): Transport {
  let agents: Agents | undefined
  let refresh: RefreshReason | undefined
  let closed = false
  let server: string | undefined
  let origin: string | undefined

  const agentsFor = (access: ClusterAccess): Agents => {
    if (closed)
      throw new KubeConnectionError(`${access.server}: client is closed`, { server: access.server, reason: 'Closed' })
    if (agents?.tls === access.tls) return agents
    if (agents !== undefined) void retireAgents(agents)
    agents = openAgents(access.tls, options)
    return agents
  }

  const withAccess = async <T extends { statusCode: number }>(
    pool: 'rest' | 'watch',
    request: HttpRequest,
    exchange: (call: Call) => Promise<T>,
  ): Promise<T> => {
    const once = async (reason: RefreshReason | undefined): Promise<T> => {
      refresh = undefined
      const access = await options.config.access(reason)
      if (access.server !== server) origin = URL.parse(access.server)?.origin
      server = access.server
      const timeoutMs = request.timeoutMs ?? options.timeoutMs
      return exchange({ ...request, timeoutMs, access, dispatcher: agentsFor(access)[pool] })
    }
    try {
      const answer = await once(refresh)
      return answer.statusCode === 401 ? await once('rejected') : answer
    } catch (error) {
      if (error instanceof KubeConnectionError) refresh = 'unreachable'
      throw error
    }
  }

  return {
    origin: () => origin,
    request: (request) => withAccess('rest', request, (call) => exchangeWhole(call, options.maxBodyBytes)),
    stream: (request) => withAccess('watch', request, exchangeStream),
    close: async () => {
      closed = true
      if (agents !== undefined) await Promise.allSettled([agents.rest.destroy(), agents.watch.destroy()])
    },
  }
}

const FAILURE_BYTES = 1024 * 1024
/**
 * What of a stream is taken in before anybody has read it. All that is read in one turn of the event loop came in with
 * it, so that undici's own 64 KB would be a limit on what a busy process reads in a second: some 400 changes of pods.
 */
const STREAM_BYTES = 4 * 1024 * 1024

async function exchangeWhole(call: Call, maxBodyBytes: number): Promise<HttpAnswer> {
  const deadline = openDeadline(call.signal, call.timeoutMs * 2)
  try {
    const answer = await dispatch(call, deadline.signal)
    return await wholeAnswer(answer, { call, maxBytes: answer.statusCode < 300 ? maxBodyBytes : FAILURE_BYTES })
  } catch (error) {
    throw typedError(error, call, deadline.expired())
  } finally {
    deadline.close()
  }
}

async function exchangeStream(call: Call): Promise<HttpStream> {
  const deadline = openDeadline(call.signal, call.timeoutMs * 2)
  try {
    const answer = await dispatch(call, deadline.signal, STREAM_BYTES)
    if (answer.statusCode !== 200) {
      const refusal = await wholeAnswer(answer, { call, maxBytes: FAILURE_BYTES })
      deadline.close()
      return refusal
    }
    deadline.stopTimer()
    answer.body.once('close', () => deadline.close())
    return { statusCode: 200, chunks: chunksOf(answer.body, call) }
  } catch (error) {
    deadline.close()
    throw typedError(error, call, deadline.expired())
  }
}

function dispatch(call: Call, signal: AbortSignal, highWaterMark?: number): Promise<Dispatcher.ResponseData> {
  return send(call.access.server + call.path, {
    dispatcher: call.dispatcher,
    method: call.method,
    headers: { ...call.access.headers, ...call.headers },
    body: call.body ?? null,
    headersTimeout: call.timeoutMs,
    signal,
    ...(highWaterMark === undefined ? {} : { highWaterMark }),
  })
}

async function wholeAnswer(
  answer: Dispatcher.ResponseData,
  { call, maxBytes }: { call: Call; maxBytes: number },
): Promise<HttpAnswer> {
  const retryAfter = answer.headers['retry-after']
  return {
    statusCode: answer.statusCode,
    retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
    body: await readBody(answer.body, maxBytes),
    server: call.access.server,
  }
}

function typedError(error: unknown, call: Call, expired: boolean): unknown {
  if (call.signal?.aborted) return call.signal.reason
  if (expired) return timeoutError(call.access.server, { what: 'complete answer', ms: call.timeoutMs * 2 })
  if (error instanceof KubeProtocolError) return error
  if ((error as { code?: string }).code === 'UND_ERR_HEADERS_TIMEOUT') {
    return timeoutError(call.access.server, { what: 'answer', ms: call.timeoutMs })
  }
  return connectionError(call.access.server, error)
}

async function* chunksOf(body: Readable, call: Call): AsyncGenerator<Buffer, void, void> {
  try {
    for await (const chunk of body) yield chunk as Buffer
  } catch (error) {
    throw typedError(error, call, false)
  }
}
