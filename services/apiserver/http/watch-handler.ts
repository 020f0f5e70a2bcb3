import { ApiError } from '../api-error.ts'
import { storageResource } from '../registry/conversion.ts'
import type { StoredEvent } from '../storage/stored-object.ts'
import { includeObject } from './include-object.ts'
import { parseListOptions, revisionParam } from './list-options.ts'
import type { ListOptions } from './list-options.ts'
import { MEDIA_TYPES, negotiate } from './negotiate.ts'
import type { Representation } from './negotiate.ts'
import type { ResourceRequest } from './resource-request.ts'
import { selectionOf } from './selection.ts'
import type { Selection } from './selection.ts'
import { EventWriter, errorLine, seenBy } from './watch-event.ts'
import { WatchStream } from './watch-stream.ts'

const WATCH_TYPES = [
  ...MEDIA_TYPES,
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
]

/** Streams changes until the client leaves, the time is up or the server stops. @throws ApiError before it begins */
export function handleWatch(request: ResourceRequest): Promise<void> {
  const { exchange, resource, name } = request
  const representation = negotiateWatch(exchange.header('accept'))
  const writer = new EventWriter(resource, representation, includeObject(exchange.query))
  const options = parseListOptions(exchange.query, true)
  const start = revisionParam(options.resourceVersion, (problem) => ApiError.internal(problem))
  const byName = name === undefined ? '' : `metadata.name=${name}`
  const fieldSelector = [byName, options.fieldSelector].filter((text) => text !== '').join(',')
  const selection = selectionOf(resource, request.namespace, { ...options, fieldSelector })
  exchange.startStream('application/json')
  const stream = new WatchStream({
    response: exchange.response,
    maxQueued: request.watchSettings.maxQueuedEvents,
  })
  run(request, { stream, writer, options, selection, start })
  return Promise.resolve()
}

function negotiateWatch(accept: string | undefined): Representation {
  try {
    const representation = negotiate(accept)
    return { ...representation, format: 'json' }
  } catch (error) {
    const isShape = error instanceof ApiError && error.status.details === undefined
    throw isShape ? error : ApiError.notAcceptable(WATCH_TYPES)
  }
}

type Watch = {
  stream: WatchStream
  writer: EventWriter
  options: ListOptions
  selection: Selection
  start: number
}

function run(request: ResourceRequest, watch: Watch): void {
  const { cluster, exchange, watchSettings } = request
  const { stream, writer, options } = watch
  const { store } = cluster
  const { token } = storageResource(request.resource)
  const first = initialLines(request, watch)
  if (first === undefined) {
    const current = String(store.revision)
    stream.push(errorLine(ApiError.expired(`too old resource version: ${watch.start} (${current})`).status))
    stream.end()
    return
  }
  stream.start(first)
  const unsubscribe = store.subscribe(token, (event) => {
    if (event.revision <= watch.start) return
    const seen = seenBy(watch.selection, event)
    if (seen !== undefined) stream.push(writer.line(seen))
  })
  const finish = (): void => {
    if (options.allowWatchBookmarks) stream.push(writer.bookmark(store.revision))
    stream.end()
  }
  const { bookmarkIntervalMs, minTimeoutMs, signal } = watchSettings
  const ends = cluster.closing === undefined ? [signal] : [signal, cluster.closing]
  const timeoutMs =
    options.timeoutSeconds === undefined || options.timeoutSeconds <= 0
      ? minTimeoutMs * (1 + cluster.random())
      : options.timeoutSeconds * 1000
  const deadline = setTimeout(finish, timeoutMs)
  const bookmarks = options.allowWatchBookmarks
    ? setInterval(() => stream.push(writer.bookmark(store.revision)), bookmarkIntervalMs)
    : undefined
  const stop = (): void => stream.end()
  for (const end of ends) end.addEventListener('abort', stop, { once: true })
  const { resource } = request
  // The kind goes with its definition.
  const stopCatalog = cluster.catalog.onChange(() => {
    if (cluster.catalog.find(resource, resource.plural) === undefined) stop()
  })
  exchange.response.on('close', () => {
    unsubscribe()
    stopCatalog()
    clearTimeout(deadline)
    clearInterval(bookmarks)
    for (const end of ends) end.removeEventListener('abort', stop)
  })
}

/** What the watch sends before live changes; `undefined` when the revision it starts from is compacted. */
function initialLines(request: ResourceRequest, watch: Watch): Iterable<Buffer> | undefined {
  const { store } = request.cluster
  const { options, selection, writer, start } = watch
  const { token } = storageResource(request.resource)
  const wantsState = options.sendInitialEvents ?? start === 0
  if (wantsState) {
    const isMarked = options.sendInitialEvents === true && options.allowWatchBookmarks
    return stateLines(store.list(token, selection.namespace), watch, isMarked ? store.revision : undefined)
  }
  if (start === 0) return []
  const events = store.since(start)
  return events === undefined ? undefined : eventLines([...events], { token, selection, writer })
}

function* stateLines(
  objects: readonly StoredEvent['current'][],
  watch: Watch,
  endRevision: number | undefined,
): Generator<Buffer> {
  const { matches } = watch.selection
  for (const stored of objects) {
    if (matches === undefined || matches(stored)) yield watch.writer.line({ type: 'ADDED', stored })
  }
  if (endRevision !== undefined) yield watch.writer.bookmark(endRevision, true)
}

function* eventLines(
  events: readonly StoredEvent[],
  watch: { token: string; selection: Selection; writer: EventWriter },
): Generator<Buffer> {
  for (const event of events) {
    if (event.current.resource !== watch.token) continue
    const seen = seenBy(watch.selection, event)
    if (seen !== undefined) yield watch.writer.line(seen)
  }
}
