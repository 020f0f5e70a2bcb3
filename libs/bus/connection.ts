import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import { type ConnectionOptions, type NatsConnection, connect } from '@nats-io/transport-node'
import { type Clock, errorMessage, systemClock } from '#libs/kernel'
import { isAtLeast } from '../../deploy/lib/versions.mjs'
import { BusError } from './errors.ts'
import { giveUpWhenAway } from './give-up.ts'
import { oldestNatsServer } from './nats-binary.ts'

export type BusOptions = {
  /** URLs of the servers. @default nats://127.0.0.1:4222 */
  servers?: string | readonly string[]
  /** Name of this client in the server's lists, and of its reply subjects, which permissions are granted by. */
  name: string
  /** Replies come to `<inboxPrefix>.>`. @default `_INBOX_<name>` */
  inboxPrefix?: string
  /** How long to keep trying for the first connection, in milliseconds; 0 tries once. @default 10000 */
  connectTimeoutMs?: number
  /** Ends the wait for the first connection. */
  signal?: AbortSignal
  /**
   * Aborts when the process is to stop: from then on the connection is given up for good when the server is not there,
   * and all that waits for it fails. @default never
   */
  stopping?: AbortSignal
  /** Shared secret of the server, if it asks for one. */
  token?: string
  /** Whatever else the client takes: credentials, TLS. */
  connection?: ConnectionOptions
  clock?: Clock
}

/** A connection to the log that comes back by itself whenever it breaks, for as long as it takes. */
export type Bus = {
  readonly nats: NatsConnection
  readonly manager: JetStreamManager
  readonly serverVersion: string
  /** What the subjects of replies to this client begin with. */
  readonly inboxPrefix: string
  /** Whether the connection is up right now. */
  isConnected(): boolean
  /** Calls the listener on each loss and return of the connection. @returns how to stop that */
  onConnection(listener: (connected: boolean) => void): () => void
  /** Resolves once the connection is given up: by `close`, or because the server refuses this client. */
  readonly closed: Promise<Error | undefined>
  /** Sends what is buffered and disconnects. */
  close(): Promise<void>
}

const apiTimeoutMs = 15_000
const retryEveryMs = 250

/**
 * Connects to the log and checks that the server can hold it.
 * @throws BusError `NatsUnreachable`, `NatsRefused` (credentials, no JetStream) or `NatsTooOld`
 */
export async function connectBus(options: BusOptions): Promise<Bus> {
  const nats = await connectWithin(options)
  try {
    const serverVersion = nats.info?.version ?? '0'
    if (!isAtLeast(serverVersion, oldestNatsServer)) {
      throw new BusError(
        `NATS at ${nats.getServer()} is ${serverVersion}; ${oldestNatsServer} or newer is needed: upgrade the server`,
        { code: 'NatsTooOld' },
      )
    }
    if (nats.info?.jetstream !== true) {
      throw new BusError(`NATS at ${nats.getServer()} runs without JetStream: start it with a "jetstream" section`, {
        code: 'NatsRefused',
      })
    }
    // Without its check: services without administrative rights may not ask for account information.
    const manager = await jetstreamManager(nats, { timeout: apiTimeoutMs, checkAPI: false })
    return watchConnection({ nats, manager, serverVersion, inboxPrefix: inboxPrefixOf(options) }, options)
  } catch (error) {
    await nats.close()
    throw error
  }
}

async function connectWithin(options: BusOptions): Promise<NatsConnection> {
  const clock = options.clock ?? systemClock
  const servers = typeof options.servers === 'string' ? [options.servers] : [...(options.servers ?? [defaultServer])]
  const deadline = clock.now() + (options.connectTimeoutMs ?? 10_000)
  for (;;) {
    options.signal?.throwIfAborted()
    try {
      return await connect({
        timeout: 5_000,
        pingInterval: 20_000,
        maxPingOut: 2,
        // They are two errors with their stacks for each request, whether or not it fails: 1.5 % of all CPU in a burst.
        noAsyncTraces: true,
        reconnectTimeWait: retryEveryMs,
        reconnectJitter: 250,
        ...options.connection,
        ...(options.token === undefined ? {} : { token: options.token }),
        servers,
        name: options.name,
        inboxPrefix: inboxPrefixOf(options),
        maxReconnectAttempts: -1,
        // A server that restarts may refuse its clients for a moment; giving up would need a restart of ours.
        ignoreAuthErrorAbort: true,
      })
    } catch (error) {
      if (isRefusal(error)) {
        throw new BusError(`NATS at ${servers.join(', ')} refuses this client: ${errorMessage(error)}`, {
          code: 'NatsRefused',
          cause: error,
        })
      }
      if (clock.now() >= deadline) throw unreachable(servers, error)
      await clock.sleep(retryEveryMs, options.signal)
    }
  }
}

function inboxPrefixOf(options: BusOptions): string {
  return options.inboxPrefix ?? `_INBOX_${options.name.replaceAll(/[^\w-]/g, '_')}`
}

const DRAIN_MS = 5_000

const defaultServer = 'nats://127.0.0.1:4222'

function isRefusal(error: unknown): boolean {
  return error instanceof Error && /authorization|authentication/i.test(`${error.name} ${error.message}`)
}

function unreachable(servers: readonly string[], cause: unknown): BusError {
  return new BusError(
    `NATS does not answer at ${servers.join(', ')} (${errorMessage(cause)}). Is nats-server running there? ` +
      '"causeway up" starts one; CAUSEWAY_NATS_URL names another.',
    { code: 'NatsUnreachable', retry: 'backoff', cause },
  )
}

function watchConnection(
  parts: Pick<Bus, 'nats' | 'manager' | 'serverVersion' | 'inboxPrefix'>,
  { stopping, clock = systemClock }: Pick<BusOptions, 'stopping' | 'clock'>,
): Bus {
  const { nats } = parts
  const listeners = new Set<(connected: boolean) => void>()
  let connected = true
  const change = (now: boolean): void => {
    connected = now
    for (const listener of listeners) listener(now)
  }
  void (async () => {
    for await (const status of nats.status()) {
      if (status.type === 'disconnect') change(false)
      else if (status.type === 'reconnect') change(true)
    }
  })()
  const closed = nats.closed().then((reason) => {
    connected = false
    return reason instanceof Error ? reason : undefined
  })
  const bus: Bus = {
    ...parts,
    closed,
    isConnected: () => connected,
    onConnection: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: async () => {
      // Draining waits for the server; with none there, or one in trouble, it would wait for ever.
      if (connected && !nats.isClosed()) {
        const late = new AbortController()
        const drained = nats.drain().catch(() => undefined)
        await Promise.race([drained, systemClock.sleep(DRAIN_MS, late.signal).catch(() => undefined)])
        late.abort()
      }
      if (!nats.isClosed()) await nats.close()
    },
  }
  const giveUp = async (): Promise<void> => {
    // Nothing must be sent on a connection that is closed: it would count as refused.
    change(false)
    await nats.close()
  }
  const onStopping = (): void => void giveUpWhenAway(bus, { clock, giveUp })
  stopping?.addEventListener('abort', onStopping, { once: true })
  if (stopping?.aborted === true) onStopping()
  return bus
}
