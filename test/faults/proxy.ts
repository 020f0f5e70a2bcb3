import { createHash, randomBytes } from 'node:crypto'
import { writeFileSync, renameSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import type { IncomingMessage } from 'node:http'
import { Agent, request as requestUpstream } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '#libs/kernel'
import { loadClusterConfig } from '#libs/kube'
import { kubeconfigText } from '../../services/apiserver/kubeconfig.ts'
import { createServerCredential } from '../../services/apiserver/tls/certificate.ts'
import { type ApiObject, type ApiRequest, targetOf } from './api-request.ts'
import {
  type Incoming,
  type Outgoing,
  cut,
  emptied,
  endGone,
  parsed,
  passedOn,
  readAll,
  send,
  untilDrained,
  writeHead,
} from './http-parts.ts'
import { type ProxyFault, RETRY_AFTER_SECONDS, statusOf } from './proxy-fault.ts'

/** Stands between Causeway and one cluster: sees every request, and can break each in many ways. */
export type Proxy = {
  readonly cluster: string
  /** The kubeconfig that leads to it; written anew by every rotation. */
  readonly kubeconfig: string
  /** Begins a fault. @returns what ends it */
  begin(fault: ProxyFault): () => void
  /** Another token, in the kubeconfig as well; the old one is refused from now on. */
  rotateToken(): void
  /** Another certificate of another authority, in the kubeconfig as well; all connections end. */
  rotateCertificate(): void
  resetConnections(): void
  close(): Promise<void>
}

export type ProxyOptions = {
  cluster: string
  /** Kubeconfig of the cluster itself. */
  upstream: string
  /** Where the kubeconfig that leads here is written to. */
  kubeconfig: string
  random: () => number
  /** Told of each request when it is over. */
  onRequest: (request: ApiRequest) => void
}

const SHARE_OF_LINE = 0.5
let order = 0

/** Opens a proxy on a free port of loopback, for HTTP/2 and HTTP/1.1. */
export async function openProxy(options: ProxyOptions): Promise<Proxy> {
  const config = await loadClusterConfig({ path: options.upstream, env: process.env, clock: systemClock })
  const access = await config.access()
  const upstream = new URL(access.server)
  const agent = new Agent({ keepAlive: true, ca: access.tls.ca })
  let token = ''
  let credential = createServerCredential({ hosts: ['127.0.0.1'], now: Date.now(), days: 30 })
  const faults = new Set<ProxyFault>()
  const sockets = new Set<Socket>()
  const watches = new Set<Outgoing>()
  const silenced = new Set<Outgoing>()

  const active = <K extends ProxyFault['kind']>(kind: K): Extract<ProxyFault, { kind: K }> | undefined =>
    [...faults].find((fault): fault is Extract<ProxyFault, { kind: K }> => fault.kind === kind)

  const server = createSecureServer(
    { allowHTTP1: true, key: credential.server.key, cert: credential.server.certificate },
    (incoming, outgoing) => void handle(incoming, outgoing).catch(() => cut(outgoing)),
  )
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('sessionError', () => undefined)
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `https://127.0.0.1:${String((server.address() as AddressInfo).port)}${upstream.pathname}`

  const writeKubeconfig = (): void => {
    const text = kubeconfigText({ name: options.cluster, server: url, authority: credential.authority, token })
    writeFileSync(`${options.kubeconfig}.new`, text, { mode: 0o600 })
    renameSync(`${options.kubeconfig}.new`, options.kubeconfig)
  }
  const rotateToken = (): void => {
    token = randomBytes(16).toString('hex')
    writeKubeconfig()
  }
  rotateToken()

  async function handle(incoming: Incoming, outgoing: Outgoing): Promise<void> {
    outgoing.on('error', () => undefined)
    const bytes = await readAll(incoming)
    const { pathname, searchParams, search } = new URL(incoming.url ?? '/', url)
    const path = pathname.slice(upstream.pathname.length) || '/'
    const method = incoming.method ?? 'GET'
    const isWrite = method !== 'GET' && method !== 'HEAD'
    const record: ApiRequest = {
      cluster: options.cluster,
      order: order++,
      at: Date.now(),
      doneAt: 0,
      method,
      path,
      target: targetOf(path),
      digest: bytes.length === 0 ? '' : createHash('sha256').update(bytes).digest('hex'),
      body: isWrite ? parsed(bytes) : undefined,
      status: 0,
      told: 0,
      object: undefined,
      fault: undefined,
    }
    const isWatch = searchParams.get('watch') === 'true' || searchParams.get('watch') === '1'
    const isList = method === 'GET' && !isWatch && record.target !== undefined && record.target.name === ''
    try {
      if (incoming.headers.authorization !== `Bearer ${token}`) {
        return answer(outgoing, record, { status: 401, body: statusOf(401, 'Unauthorized', 'Unauthorized') })
      }
      const slow = active('slow')
      if (slow !== undefined) {
        record.fault = 'slow'
        await sleep(slow.ms)
      }
      if (active('silent') !== undefined) {
        record.fault = 'silent'
        silenced.add(outgoing)
        return
      }
      const refuse = active('refuse')
      if (refuse !== undefined && options.random() < refuse.share) {
        record.fault = 'refuse'
        return refused(outgoing, record, refuse.status)
      }
      const reset = active('reset')
      const isReset = reset !== undefined && options.random() < reset.share
      if (isReset) record.fault = 'reset'
      if (isReset && !reset.after) return cut(outgoing)
      const gone = active('gone')
      if (isWatch && gone !== undefined && !gone.inStream) {
        record.fault = 'gone'
        return answer(outgoing, record, { status: 410, body: statusOf(410, 'Expired', 'too old resource version') })
      }
      const { status, headers, stream } = await ask({ method, path: pathname + search, incoming, bytes })
      record.status = status
      if (isWatch && status === 200) return await passWatch(outgoing, record, { headers, stream })
      const body = await readAll(stream)
      record.doneAt = Date.now()
      if (isWrite) record.object = parsed(body) as ApiObject | undefined
      if (isReset) return cut(outgoing)
      if (isList && active('empty-list') !== undefined && status === 200) {
        record.fault = 'empty-list'
        return answer(outgoing, record, { status, headers, body: emptied(body) })
      }
      return answer(outgoing, record, { status, headers, body })
    } catch {
      cut(outgoing)
    } finally {
      record.doneAt ||= Date.now()
      options.onRequest(record)
    }
  }

  function ask(call: { method: string; path: string; incoming: Incoming; bytes: Buffer }): Promise<{
    status: number
    headers: Record<string, string>
    stream: IncomingMessage
  }> {
    return new Promise((resolve, reject) => {
      const headers = { ...passedOn(call.incoming.headers), ...access.headers }
      const upstreamRequest = requestUpstream(
        { host: upstream.hostname, port: upstream.port, method: call.method, path: call.path, agent, headers },
        (stream) => {
          stream.on('error', () => undefined)
          resolve({ status: stream.statusCode ?? 0, headers: passedOn(stream.headers), stream })
        },
      )
      upstreamRequest.once('error', reject)
      upstreamRequest.end(call.bytes)
    })
  }

  async function passWatch(
    outgoing: Outgoing,
    record: ApiRequest,
    { headers, stream }: { headers: Record<string, string>; stream: IncomingMessage },
  ): Promise<void> {
    record.told = 200
    writeHead(outgoing, 200, dated(headers))
    watches.add(outgoing)
    outgoing.once('close', () => {
      watches.delete(outgoing)
      stream.destroy()
    })
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (active('silent') !== undefined) continue
      if (active('truncate') !== undefined) {
        record.fault = 'truncate'
        send(outgoing, chunk.subarray(0, Math.ceil(chunk.length * SHARE_OF_LINE)))
        await sleep(1)
        return cut(outgoing)
      }
      if (!send(outgoing, chunk)) await untilDrained(outgoing)
    }
    outgoing.end()
  }

  const dated = (headers: Record<string, string>): Record<string, string> => {
    const offset = active('clock')?.offsetMs
    return offset === undefined ? headers : { ...headers, date: new Date(Date.now() + offset).toUTCString() }
  }

  function refused(outgoing: Outgoing, record: ApiRequest, status: number): void {
    const [reason, message] = status === 429 ? ['TooManyRequests', 'too many requests'] : ['InternalError', 'broken']
    const waits = status === 429 || status === 503
    const headers = waits ? { 'retry-after': String(RETRY_AFTER_SECONDS) } : {}
    answer(outgoing, record, { status, headers, body: statusOf(status, reason ?? '', message ?? '') })
  }

  function answer(
    outgoing: Outgoing,
    record: ApiRequest,
    reply: { status: number; headers?: Record<string, string>; body: Buffer | string },
  ): void {
    const body = Buffer.from(reply.body)
    const { 'content-length': _, ...headers } = reply.headers ?? {}
    writeHead(outgoing, reply.status, { 'content-type': 'application/json', ...dated(headers) })
    outgoing.end(body)
    record.told = reply.status
  }

  const reactions: Partial<Record<ProxyFault['kind'], (fault: ProxyFault) => void>> = {
    gone: (fault) => {
      for (const watch of watches) {
        if (fault.kind === 'gone' && fault.inStream) endGone(watch)
        else cut(watch)
      }
    },
    'empty-list': () => [...watches].forEach(endGone),
    reset: () => resetConnections(),
  }
  const resetConnections = (): void => {
    for (const socket of sockets) socket.destroy()
  }

  return {
    cluster: options.cluster,
    kubeconfig: options.kubeconfig,
    begin: (fault) => {
      faults.add(fault)
      reactions[fault.kind]?.(fault)
      return () => {
        faults.delete(fault)
        if (fault.kind !== 'silent') return
        // Who still waits would wait for its own deadline; the connections that fell silent never come back to life.
        silenced.clear()
        resetConnections()
      }
    },
    rotateToken,
    rotateCertificate: () => {
      credential = createServerCredential({ hosts: ['127.0.0.1'], now: Date.now(), days: 30 })
      server.setSecureContext({ key: credential.server.key, cert: credential.server.certificate })
      writeKubeconfig()
      resetConnections()
    },
    resetConnections,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      resetConnections()
      agent.destroy()
      await closed
    },
  }
}
