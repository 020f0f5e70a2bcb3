import type { ServerResponse } from 'node:http'

/** Server-sent events to one listener. */
export type EventStream = { send(event: string, data: unknown): void; close(): void }

/** Keeps what stands between from closing a connection on which nothing is said. */
const HEARTBEAT_MS = 15_000
/** Who does not read is behind by this much, and begins again. */
const BUFFER_LIMIT = 4_000_000

export function openEventStream(response: ServerResponse): EventStream {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  response.write('retry: 2000\n\n')
  const heartbeat = setInterval(() => response.write(':\n\n'), HEARTBEAT_MS)
  const close = (): void => {
    clearInterval(heartbeat)
    response.end()
  }
  response.once('close', () => clearInterval(heartbeat))
  return {
    send: (event, data) => {
      if (response.destroyed || response.writableEnded) return
      response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
      if (response.writableLength > BUFFER_LIMIT) response.destroy()
    },
    close,
  }
}
