import type { LogMessage } from '#libs/events'
import { type Clock, backoffDelay } from '#libs/kernel'
import type { Bus } from './connection.ts'
import { ConsumerSession } from './consumer-session.ts'
import { BusError } from './errors.ts'
import type { KvEvent } from './kv.ts'
import { untilConnected } from './while-connected.ts'

export type KvWatchOptions = { bucket: string; filter?: string; signal?: AbortSignal; clock: Clock }

/** What has been told so far. */
type Told = { revisions: Map<string, number>; isReady: boolean }

/**
 * Watches a bucket. After an interruption all is read again and compared with what was told before, so that a value
 * that went meanwhile is told as deleted even when nothing in the bucket speaks of it any more.
 */
export async function* watchKv<T>(bus: Bus, options: KvWatchOptions): AsyncGenerator<KvEvent<T>, void, void> {
  const { bucket, filter = '>', signal, clock } = options
  const prefix = `$KV.${bucket}.`
  const told: Told = { revisions: new Map(), isReady: false }
  const isAborted = (): boolean => signal?.aborted === true
  for (let attempt = 0; !isAborted(); attempt += 1) {
    await untilConnected(bus, signal)
    if (bus.nats.isClosed()) throw new BusError('the connection to NATS was closed', { code: 'NatsClosed' })
    const session = await ConsumerSession.open(bus, {
      stream: `KV_${bucket}`,
      filterSubjects: [prefix + filter],
      start: 'lastPerSubject',
      capacity: 500,
    }).catch(() => undefined)
    if (session !== undefined) {
      const stop = (): void => session.close()
      signal?.addEventListener('abort', stop)
      try {
        if (!isAborted()) yield* tellSession<T>(session, prefix, told)
      } finally {
        signal?.removeEventListener('abort', stop)
        session.close()
      }
      attempt = 0
    }
    await clock
      .sleep(50 + backoffDelay({ baseMs: 50, capMs: 2_000 }, attempt, Math.random), signal)
      .catch(() => undefined)
  }
}

/** Tells what one session brings, until it ends. Its first messages are all there is at its beginning. */
async function* tellSession<T>(
  session: ConsumerSession,
  prefix: string,
  told: Told,
): AsyncGenerator<KvEvent<T>, void, void> {
  let missing: Set<string> | undefined = new Set(told.revisions.keys())
  while (session.ended !== 'closed') {
    if (missing !== undefined && session.pending === 0 && session.ended === undefined) {
      for (const key of missing) {
        told.revisions.delete(key)
        yield { type: 'delete', key }
      }
      missing = undefined
      if (!told.isReady) yield { type: 'ready' }
      told.isReady = true
    }
    const batch = session.take()
    for (const message of batch) {
      const key = message.subject.slice(prefix.length)
      missing?.delete(key)
      const event = toEvent<T>(message, key)
      if (isNews(event, told)) yield event
    }
    if (batch.length > 0) continue
    if (session.ended !== undefined) return
    await session.wait()
  }
}

function isNews<T>(event: Exclude<KvEvent<T>, { type: 'ready' }>, told: Told): boolean {
  if (event.type === 'delete') return told.revisions.delete(event.key)
  if (told.revisions.get(event.key) === event.revision) return false
  told.revisions.set(event.key, event.revision)
  return true
}

const decoder = new TextDecoder()

function toEvent<T>(message: LogMessage, key: string): Exclude<KvEvent<T>, { type: 'ready' }> {
  // Deleted by us, or by the server for its age.
  const isGone = message.headers['KV-Operation'] !== undefined || message.headers['Nats-Marker-Reason'] !== undefined
  if (isGone) return { type: 'delete', key }
  return { type: 'put', key, value: JSON.parse(decoder.decode(message.payload)) as T, revision: message.seq }
}
