import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type ClientHttp2Stream, constants } from 'node:http2'
import { Agent } from 'undici'
import type { TlsMaterial } from '../auth/cluster-config.ts'
import { secureContextOf } from './secure-contexts.ts'

const CONNECT_TIMEOUT_MS = 10_000
const KEEP_ALIVE_MS = 30_000

/**
 * What a server may send before the client has taken it in, of one answer and of all on a connection. With undici's own,
 * watches that share a connection have 512 KB together, so that one which is read late keeps all others waiting. Its
 * types name the first `settings.initialWindowSize`, its code reads it here.
 */
const WINDOWS: { initialWindowSize: number; connectionWindowSize: number } = {
  initialWindowSize: 4 * 1024 * 1024,
  connectionWindowSize: 64 * 1024 * 1024,
}

/** The connections to one cluster. */
export type Agents = { tls: TlsMaterial; rest: Agent; watch: Agent }

/** Opens two pools, as a watch that delivers much must not delay the requests that share its connection. */
export function openAgents(tls: TlsMaterial, options: { http2: boolean; timeoutMs: number }): Agents {
  mindEveryStream()
  const secureContext = secureContextOf(tls)
  const open = (connections: number | null): Agent =>
    new Agent({
      allowH2: options.http2,
      connections,
      // Over HTTP/2 this timeout also pings the session and ends it when it is dead; an abort resets only the stream.
      headersTimeout: options.timeoutMs,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      h2Options: WINDOWS,
      connect: {
        ...tls,
        ...(secureContext === undefined ? {} : { secureContext }),
        timeout: CONNECT_TIMEOUT_MS,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_MS,
      },
    })
  return { tls, rest: open(32), watch: open(null) }
}

/** Closes both pools and lets requests that are under way finish. */
export async function retireAgents(agents: Agents): Promise<void> {
  await Promise.allSettled([agents.rest.close(), agents.watch.close()])
}

/**
 * Mends two things for each HTTP/2 stream. When the headers of an answer meet a request that was aborted, Node makes a
 * stream that belongs to nobody; at the end of the connection its error would be an uncaught exception, so that each has
 * a listener. And undici aborts a request by `close()` and `destroy()`; where its body is not sent yet, Node leaves the
 * stream open then, has nothing to send for it, and sends that in a loop that ends with the machine's memory. Closed
 * with a code, it is reset at once.
 */
function mindEveryStream(): void {
  unsubscribe(STREAM_CREATED, onStreamCreated)
  subscribe(STREAM_CREATED, onStreamCreated)
}

const STREAM_CREATED = 'http2.client.stream.created'

function onStreamCreated(message: unknown): void {
  const { stream } = message as { stream: ClientHttp2Stream }
  stream.on('error', () => undefined)
  const close = stream.close.bind(stream)
  stream.close = (code = constants.NGHTTP2_CANCEL, callback?: () => void) => close(code, callback)
}
