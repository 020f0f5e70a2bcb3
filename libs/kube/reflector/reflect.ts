import { backoffDelay } from '#libs/kernel'
import type { Clock } from '#libs/kernel'
import type { KubeObject, ResourceInfo } from '#libs/kube-model'
import type { KubeClient, Selection } from '../client/kube-client.ts'
import { KubeConnectionError, KubeProtocolError } from '../errors.ts'
import { failureOf } from './failure.ts'
import { createLineSplitter } from './line-splitter.ts'
import { listAll } from './list-all.ts'
import { superviseWatch } from './liveness.ts'
import { begin, next } from './next.ts'
import type { ListCause, ReflectorAction, ReflectorSignal } from './next.ts'
import type { KnownObject, ReflectorEvent } from './reflector-event.ts'
import { parseWatchLine, watchLineOf } from './watch-line.ts'

export type ReflectOptions = Selection & {
  client: Pick<KubeClient, 'listPage' | 'watch' | 'source'>
  resource: ResourceInfo
  /**
   * resourceVersion to resume from, of this very cluster (compare `clusterIdentity` with the one it was noted with);
   * without one everything is listed first.
   */
  checkpoint?: string | undefined
  /** Objects that were known before; asked after each list, to tell which are missing from it. */
  known?: (() => Iterable<KnownObject> | AsyncIterable<KnownObject>) | undefined
  clock: Clock
  /** A number in [0, 1). */
  random: () => number
  /** Ends the reflector; the iteration then ends without an error. */
  signal: AbortSignal
  /** A watch without a byte for this long is opened anew. @default 100 s; servers send bookmarks about once a minute */
  idleMs?: number
  /** Whether objects come with their `managedFields`, which are about half of each. @default false */
  keepManagedFields?: boolean
  /** @default 16 MiB, several times what an API server stores */
  maxLineBytes?: number
}

type Steps = AsyncGenerator<ReflectorEvent, ReflectorSignal, void>

/**
 * Follows one kind on one cluster for as long as the signal lets it: lists, watches, resumes, backs off. Every change
 * is handed out at least once, in the order of its object's versions. The consumer's `await` is the back-pressure; its
 * errors end the iteration. Failures of the server never do: they are `STATE` events.
 *
 * In this process a broken watch resumes after what was last handed out. The consumer keeps a checkpoint for the next
 * process, and moves it only when what it was handed is safe.
 */
export async function* reflect(options: ReflectOptions): AsyncGenerator<ReflectorEvent, void, void> {
  // Objects that lists handed out before they broke off. They may be gone when the next list comes, unseen by any watch.
  const unfinished = new Map<string, KnownObject>()
  let [state, action] = begin(options.checkpoint)
  while (!options.signal.aborted) {
    const signal: ReflectorSignal = yield* perform(action, options, unfinished)
    if (!options.signal.aborted) [state, action] = next(state, signal)
  }
}

function perform(action: ReflectorAction, options: ReflectOptions, unfinished: Map<string, KnownObject>): Steps {
  switch (action.do) {
    case 'list':
      return listOnce(options, action.cause, unfinished)
    case 'watch':
      return watchOnce(options, action.resourceVersion)
    case 'wait':
      return waitOnce(options, action)
  }
}

async function* listOnce(options: ReflectOptions, cause: ListCause, unfinished: Map<string, KnownObject>): Steps {
  const seen = new Set<string>()
  let resourceVersion = ''
  yield { type: 'STATE', state: 'listing', cause }
  try {
    for await (const page of listAll(options)) {
      if (page.restarted) seen.clear()
      const observedAt = options.clock.now()
      for (const item of page.items) {
        const known = identityOf(item)
        seen.add(known.uid)
        unfinished.set(known.uid, known)
        yield { type: 'ADDED', ...watchLineOf(item, options.keepManagedFields), observedAt, initial: true }
      }
      resourceVersion = page.resourceVersion
    }
    if (resourceVersion === '') throw new KubeProtocolError('list without a resourceVersion', { reason: 'Corrupt' })
  } catch (error) {
    return { type: 'list-failed', failure: failureOf(error) }
  }
  const missing = await missingFrom(seen, options, unfinished)
  unfinished.clear()
  yield { type: 'LISTED', resourceVersion, cause, count: seen.size, missing }
  return { type: 'listed', resourceVersion }
}

async function missingFrom(
  seen: ReadonlySet<string>,
  options: ReflectOptions,
  unfinished: ReadonlyMap<string, KnownObject>,
): Promise<KnownObject[]> {
  const missing = new Map<string, KnownObject>()
  for (const known of unfinished.values()) if (!seen.has(known.uid)) missing.set(known.uid, known)
  for await (const known of options.known?.() ?? []) if (!seen.has(known.uid)) missing.set(known.uid, known)
  return [...missing.values()]
}

async function* watchOnce(options: ReflectOptions, from: string): Steps {
  const { client, resource, clock, namespace, labelSelector, fieldSelector } = options
  const startedAt = clock.now()
  const timeoutSeconds = 300 + Math.floor(options.random() * 301)
  const splitter = createLineSplitter(options.maxLineBytes ?? 16 * 1024 * 1024)
  const liveness = superviseWatch(options.signal, {
    clock,
    source: client.source,
    idleMs: options.idleMs ?? 100_000,
    deadlineMs: (timeoutSeconds + 15) * 1000,
  })
  let resourceVersion = from
  let events = 0
  try {
    const selection = { namespace, labelSelector, fieldSelector }
    const { signal } = liveness
    const chunks = await client.watch(resource, { ...selection, resourceVersion, timeoutSeconds, signal })
    yield { type: 'STATE', state: 'watching', resourceVersion }
    for await (const chunk of liveness.track(chunks)) {
      const observedAt = clock.now()
      for (const line of splitter.push(chunk)) {
        const event = parseWatchLine(line, options.keepManagedFields)
        events++
        if (event.type === 'BOOKMARK') {
          yield event
          resourceVersion = event.resourceVersion
        } else {
          yield { ...event, observedAt, initial: false }
          resourceVersion = event.object.metadata.resourceVersion
        }
      }
    }
    if (splitter.pendingBytes() > 0) throw truncated(client.source)
    return { type: 'watch-ended', resourceVersion, lastedMs: clock.now() - startedAt, events }
  } catch (error) {
    const failure = failureOf(liveness.verdict() ?? error)
    return { type: 'watch-failed', resourceVersion, lastedMs: clock.now() - startedAt, failure }
  } finally {
    liveness.stop()
  }
}

async function* waitOnce(options: ReflectOptions, wait: ReflectorAction & { do: 'wait' }): Steps {
  const delayMs = Math.max(wait.atLeastMs, backoffDelay(wait.backoff, wait.attempt, options.random))
  yield { type: 'STATE', state: 'backing-off', message: wait.message, delayMs }
  // Rejects only when the signal aborts, which the loop above sees.
  await options.clock.sleep(delayMs, options.signal).catch(() => undefined)
  return { type: 'waited' }
}

function truncated(source: string): KubeConnectionError {
  return new KubeConnectionError(`watch of ${source}: ended within a line`, { server: source, reason: 'Truncated' })
}

function identityOf(item: KubeObject): KnownObject {
  const { namespace = '', name = '', uid = '' } = item.metadata
  return { namespace, name, uid }
}
