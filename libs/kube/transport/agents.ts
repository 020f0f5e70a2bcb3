import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientHttp2Stream } from 'node:http2'
import { Agent } from 'undici'
import type { TlsMaterial } from '../auth/cluster-config.ts'

const CONNECT_TIMEOUT_MS = 10_000
const KEEP_ALIVE_MS = 30_000

/** The connections to one cluster. */
export type Agents = { tls: TlsMaterial; rest: Agent; watch: Agent }

/** Opens two pools, as a watch that delivers much must not delay the requests that share its connection. */
export function openAgents(tls: TlsMaterial, options: { http2: boolean; timeoutMs: number }): Agents {
  listenToEveryStream()
  const open = (connections: number | null): Agent =>
    new Agent({
      allowH2: options.http2,
      connections,
      // Over HTTP/2 this timeout also pings the session and ends it when it is dead; an abort resets only the stream.
      headersTimeout: options.timeoutMs,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: { ...tls, timeout: CONNECT_TIMEOUT_MS, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS },
    })
  return { tls, rest: open(32), watch: open(null) }
}

/** Closes both pools and lets requests that are under way finish. */
export async function retireAgents(agents: Agents): Promise<void> {
  await Promise.allSettled([agents.rest.close(), agents.watch.close()])
}

/**
 * Gives each HTTP/2 stream a listener for its errors. When the headers of an answer meet a request that was aborted,
 * Node makes a stream that belongs to nobody; at the end of the connection its error would be an uncaught exception.
 */
function listenToEveryStream(): void {
  unsubscribe(STREAM_CREATED, onStreamCreated)
  subscribe(STREAM_CREATED, onStreamCreated)
}

const STREAM_CREATED = 'http2.client.stream.created'

function onStreamCreated(message: unknown): void {
  const { stream } = message as { stream: ClientHttp2Stream }
  stream.on('error', () => undefined)
}
