import type { IncomingMessage, ServerResponse } from 'node:http'
import type { KubeObject } from '#libs/kube-model'

/** What a scripted server does with one request. */
export type Reply = (response: ServerResponse, request: IncomingMessage) => void

/** A watch event as the line that carries it. */
export function eventLine(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`
}

/** A failure with its `Status`. */
export function statusReply(
  code: number,
  options: { reason?: string; message?: string; retryAfterSeconds?: number; details?: object } = {},
): Reply {
  const { reason, message = 'scripted', retryAfterSeconds, details } = options
  return (response) => {
    const retryAfter = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
    response.writeHead(code, { 'content-type': 'application/json', ...retryAfter })
    response.end(
      JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details }),
    )
  }
}

/** A success with a JSON body. */
export function jsonReply(body: unknown): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

/** A page of a list; items lack `apiVersion` and `kind`, as in real ones. */
export function listReply(items: KubeObject[], options: { resourceVersion: string; continueToken?: string }): Reply {
  const metadata = { resourceVersion: options.resourceVersion, continue: options.continueToken }
  return jsonReply({ kind: 'PodList', apiVersion: 'v1', metadata, items })
}

/** What becomes of a scripted stream after its last byte. */
export type StreamEnd = 'end' | 'hold' | 'reset'

/** A 200 whose body comes piece by piece, then ends, stays open in silence, or breaks off. */
export function streamReply(pieces: readonly (string | Buffer)[], then: StreamEnd): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    const send = (index: number): void => {
      const piece = pieces[index]
      // One turn apart, so that the client sees the pieces as separate chunks.
      if (piece !== undefined) response.write(piece, () => setImmediate(send, index + 1))
      else if (then === 'end') response.end()
      else if (then === 'reset') response.destroy()
    }
    send(0)
  }
}

/** Takes the request and never answers. */
export const silentReply: Reply = () => undefined

/** Breaks the connection instead of answering. */
export const resetReply: Reply = (response) => {
  response.destroy()
}
