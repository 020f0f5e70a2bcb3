import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { gzipSync } from 'node:zlib'
import { stringify } from 'yaml'
import { ApiError } from '../api-error.ts'

export type Request = IncomingMessage | Http2ServerRequest
export type Response = ServerResponse | Http2ServerResponse

/** Bodies from this size on are compressed for clients that allow it. */
const GZIP_MIN_BYTES = 128 * 1024

/** One request and its answer. */
export class Exchange {
  readonly request: Request
  readonly response: Response
  /** Path below the cluster's root. */
  readonly path: string
  readonly query: URLSearchParams
  readonly #warnings: string[] = []

  constructor(request: Request, response: Response, target: { path: string; query: URLSearchParams }) {
    this.request = request
    this.response = response
    this.path = target.path
    this.query = target.query
  }

  /** The same exchange seen from another root. */
  at(path: string): Exchange {
    return new Exchange(this.request, this.response, { path, query: this.query })
  }

  get method(): string {
    return this.request.method ?? 'GET'
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  /** Adds a `Warning` header to the answer. */
  warn(text: string): void {
    if (!this.#warnings.includes(text)) this.#warnings.push(text)
  }

  sendJson(code: number, body: unknown, options: { format?: 'json' | 'yaml'; contentType?: string } = {}): void {
    if (options.format === 'yaml') this.send(code, stringify(body), 'application/yaml')
    else this.send(code, JSON.stringify(body), options.contentType ?? 'application/json')
  }

  /** Sends a whole body. A HEAD request gets the headers of the body. */
  send(code: number, body: string | Buffer, contentType: string): void {
    let bytes: Buffer = typeof body === 'string' ? Buffer.from(body) : body
    const headers: Record<string, string | number> = {
      'content-type': contentType,
      'cache-control': 'no-cache, private',
    }
    if (bytes.length >= GZIP_MIN_BYTES && (this.header('accept-encoding') ?? '').includes('gzip')) {
      bytes = gzipSync(bytes, { level: 1 })
      headers['content-encoding'] = 'gzip'
    }
    headers['content-length'] = bytes.length
    this.#start(code, headers)
    if (this.method === 'HEAD') this.response.end()
    else this.response.end(bytes)
  }

  /** Says that nothing is served here, as upstream does outside the API's groups. */
  sendNotFound(): void {
    this.send(404, '404 page not found\n', 'text/plain; charset=utf-8')
  }

  sendError(error: ApiError): void {
    const { retryAfter, status } = error
    if (this.response.headersSent) {
      this.response.end()
      return
    }
    if (retryAfter !== undefined) this.response.setHeader('retry-after', String(retryAfter))
    this.send(error.code, JSON.stringify(status), 'application/json')
  }

  /** Sends the headers of a stream; the body follows with `response.write`. */
  startStream(contentType: string): void {
    this.#start(200, { 'content-type': contentType, 'cache-control': 'no-cache, private' })
    // The client may wait for the headers before anything happens.
    if ('flushHeaders' in this.response) this.response.flushHeaders()
  }

  #start(code: number, headers: Record<string, string | number>): void {
    if (this.#warnings.length > 0) {
      headers['warning'] = this.#warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(', ')
    }
    for (const [name, value] of Object.entries(headers)) this.response.setHeader(name, value)
    this.response.statusCode = code
  }
}

/** Whatever was thrown, as the answer to give. */
export function asApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error
  return error instanceof URIError ? ApiError.badRequest('the path is not encoded well') : undefined
}
