import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { CausewayError, errorMessage } from '#libs/kernel'
import type { Logger } from '#libs/telemetry'
import type { ConsoleMetrics } from '../metrics.ts'
import { type Asset, loadAssets } from './assets.ts'
import { openEventStream } from './event-stream.ts'
import { SECURITY_HEADERS, refuseOtherSites, requireOperator } from './guard.ts'
import { openApiDocument, operationId } from './openapi.ts'
import { Problem } from './problem.ts'
import { type Route, matchRoute, readQuery } from './route.ts'

export type ConsoleServer = { url: string; close(): Promise<void> }

export type ServeOptions = {
  host: string
  port: number
  /** Names under which it is served, besides addresses and localhost. */
  names?: readonly string[] | undefined
  operatorToken?: string | undefined
  routes: readonly Route[]
  logger: Logger
  metrics: ConsoleMetrics
}

/** Requests that read much, and listeners, at the same time: more than these would take from the pipeline. */
const HEAVY_AT_ONCE = 8
const LISTENERS = 200
/** Answers from this size on are worth packing. */
const GZIP_FROM = 1_400

/** Serves the page and its API. @throws CausewayError `PortTaken` naming the address */
export async function serveConsole(options: ServeOptions): Promise<ConsoleServer> {
  const { host, port } = options
  const handler = new Handler(options)
  const server = createServer((request, response) => void handler.handle(request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = `the console's port ${host}:${port} is taken: choose another, or 0 for a free one`
      reject(error.code === 'EADDRINUSE' ? new CausewayError(taken, { code: 'PortTaken', cause: error }) : error)
    })
    server.listen(port, host, resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        handler.close()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

class Handler {
  readonly #options: ServeOptions
  #assets: Map<string, Asset> | undefined
  readonly #closing = new AbortController()
  #heavy = 0
  #listeners = 0

  constructor(options: ServeOptions) {
    this.#options = options
  }

  close(): void {
    this.#closing.abort()
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value)
    try {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://console')
      // The page may be opened from a link anywhere; what it shows is asked for by itself alone.
      if (this.#serveAsset(request, response, pathname)) return
      refuseOtherSites(request, this.#options.names ?? [])
      if (pathname === '/openapi.json') {
        this.#answer(request, response, openApiDocument(this.#options.routes))
        return
      }
      const { route, path } = matchRoute(this.#options.routes, request.method ?? 'GET', pathname)
      const begun = performance.now()
      response.once('close', () => {
        if (route.kind !== 'answer') return
        const seconds = (performance.now() - begun) / 1_000
        this.#options.metrics.answered(operationId(route), response.statusCode, seconds)
      })
      if (route.kind === 'answer' && route.needsOperator) requireOperator(request, this.#options.operatorToken)
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      const signal = AbortSignal.any([gone.signal, this.#closing.signal])
      const asked = { path, ...readQuery(route, searchParams), signal }
      if (route.kind === 'answer') {
        const answer = await this.#counted(route, () => route.handle(asked))
        if (!signal.aborted) this.#answer(request, response, answer)
        return
      }
      await this.#listen(response, signal, (send) => route.stream(asked, send))
    } catch (error) {
      this.#refuse(request, response, error)
    }
  }

  #serveAsset({ method, headers }: IncomingMessage, response: ServerResponse, pathname: string): boolean {
    // Made when somebody looks: most installations are started without that anybody does.
    this.#assets ??= loadAssets()
    const asset = this.#assets.get(pathname)
    if (asset === undefined || (method !== 'GET' && method !== 'HEAD')) return false
    const { type, etag, body, gzipped } = asset
    response.setHeader('etag', etag).setHeader('cache-control', 'no-cache').setHeader('vary', 'accept-encoding')
    if (headers['if-none-match'] === etag) {
      response.writeHead(304).end()
      return true
    }
    const isPacked = acceptsGzip(headers)
    if (isPacked) response.setHeader('content-encoding', 'gzip')
    response.writeHead(200, { 'content-type': type }).end(method === 'HEAD' ? undefined : isPacked ? gzipped : body)
    return true
  }

  async #counted(route: Route, call: () => Promise<unknown>): Promise<unknown> {
    if (route.isHeavy !== true) return await call()
    if (this.#heavy >= HEAVY_AT_ONCE) throw new Problem(503, 'Busy', 'many ask at once: try again in a moment')
    this.#heavy += 1
    try {
      return await call()
    } finally {
      this.#heavy -= 1
    }
  }

  async #listen(
    response: ServerResponse,
    signal: AbortSignal,
    stream: (send: (event: string, data: unknown) => void) => Promise<void>,
  ): Promise<void> {
    if (this.#listeners >= LISTENERS) throw new Problem(503, 'Busy', 'too many listen already')
    this.#count(1)
    const events = openEventStream(response)
    try {
      await stream((event, data) => events.send(event, data))
    } catch (error) {
      if (!signal.aborted) events.send('problem', { code: 'Interrupted', message: errorMessage(error) })
    } finally {
      this.#count(-1)
      events.close()
    }
  }

  #count(listeners: 1 | -1): void {
    this.#listeners += listeners
    this.#options.metrics.listening(this.#listeners)
  }

  #answer({ headers }: IncomingMessage, response: ServerResponse, answer: unknown): void {
    const body = Buffer.from(JSON.stringify(answer))
    response.setHeader('content-type', 'application/json').setHeader('cache-control', 'no-store')
    const isPacked = body.length >= GZIP_FROM && acceptsGzip(headers)
    if (isPacked) response.setHeader('content-encoding', 'gzip')
    response.writeHead(200).end(isPacked ? gzipSync(body, { level: 1 }) : body)
  }

  #refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const problem = error instanceof Problem ? error : new Problem(502, 'CannotTell', errorMessage(error))
    if (!(error instanceof Problem) && !this.#closing.signal.aborted) {
      this.#options.logger.warn({ path: request.url, err: error }, 'a question could not be answered')
    }
    if (response.headersSent) {
      response.end()
      return
    }
    if (problem.status === 401) response.setHeader('www-authenticate', 'Bearer')
    response.writeHead(problem.status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    response.end(JSON.stringify({ code: problem.code, message: problem.message }))
  }
}

function acceptsGzip(headers: IncomingMessage['headers']): boolean {
  return /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))
}
