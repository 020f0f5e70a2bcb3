import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Http2ServerRequest, type Http2ServerResponse, constants } from 'node:http2'
import { GONE_EVENT } from './proxy-fault.ts'

/** Requests and answers of HTTP/1.1 and HTTP/2. */
export type Incoming = IncomingMessage | Http2ServerRequest
export type Outgoing = ServerResponse | Http2ServerResponse

const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'host', 'http2-settings'])

/** Both kinds of answers have it, with signatures that do not meet. */
export function writeHead(outgoing: Outgoing, status: number, headers: Record<string, string>): void {
  ;(outgoing as ServerResponse).writeHead(status, headers)
  if ('flushHeaders' in outgoing) outgoing.flushHeaders()
}

/** Tells a watch that it cannot go on. */
export function endGone(watch: Outgoing): void {
  send(watch, Buffer.from(GONE_EVENT))
  watch.end()
}

/** Both kinds of responses have it, with signatures that do not meet. */
export function send(outgoing: Outgoing, chunk: Buffer): boolean {
  return (outgoing as ServerResponse).write(chunk)
}

/** Resolves when more can be written, or nothing can any more. */
export function untilDrained(outgoing: Outgoing): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done).off('close', done)
      resolve()
    }
    outgoing.on('drain', done).on('close', done)
  })
}

/** Ends a request as a broken connection does, over HTTP/2 without the others on the connection. */
export function cut(outgoing: Outgoing): void {
  if ('stream' in outgoing) outgoing.stream?.close(constants.NGHTTP2_INTERNAL_ERROR)
  else outgoing.destroy()
}

export async function readAll(stream: AsyncIterable<Buffer> | Incoming): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export function passedOn(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith(':') || HOP_BY_HOP.has(name) || value === undefined ? [] : [[name, String(value)]],
    ),
  )
}

export function parsed(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

export function emptied(body: Buffer): string {
  const list = parsed(body) ?? {}
  const { continue: _, remainingItemCount: __, ...metadata } = (list['metadata'] ?? {}) as Record<string, unknown>
  return JSON.stringify({ ...list, metadata, items: [] })
}
