import type { KubeObject, WatchEventType } from '#libs/kube-model'
import type { ApiResource } from '../discovery/resources.ts'
import { toServed } from '../registry/conversion.ts'
import type { StoredEvent, StoredObject } from '../storage/stored-object.ts'
import { toTable } from '../table/index.ts'
import type { IncludeObject } from './include-object.ts'
import type { Representation } from './negotiate.ts'
import { partialMetadata } from './render.ts'
import type { Selection } from './selection.ts'

/** A change as one watcher sees it. */
export type SeenEvent = { type: WatchEventType; stored: StoredObject }

/** What a change means to a watch: an object that leaves the selection is deleted, one that enters it is added. */
export function seenBy(selection: Selection, event: StoredEvent): SeenEvent | undefined {
  const { current, previous } = event
  if (selection.namespace !== undefined && current.namespace !== selection.namespace) return undefined
  const { matches } = selection
  if (matches === undefined) return { type: event.type, stored: current }
  const matched = previous !== undefined && matches(previous)
  if (event.type === 'DELETED') return matched || matches(current) ? { type: 'DELETED', stored: current } : undefined
  if (matches(current)) return { type: matched ? 'MODIFIED' : 'ADDED', stored: current }
  return matched && previous !== undefined
    ? { type: 'DELETED', stored: atRevision(previous, event.revision) }
    : undefined
}

/** An earlier version as it looks at the revision at which it left the selection. */
function atRevision(stored: StoredObject, revision: number): StoredObject {
  const metadata = { ...stored.object.metadata, resourceVersion: String(revision) }
  const object = { ...stored.object, metadata }
  const { resource, namespace, name } = stored
  return { resource, namespace, name, revision, object, json: JSON.stringify(object) }
}

/**
 * Lines are the same for all watchers of a resource, so each is made once. Watchers get a change at the same time: the
 * newest lines are all that is worth keeping.
 */
const lines = new Map<StoredObject, Map<string, Buffer>>()
const MAX_LINES = 64

/** Makes the lines of one watch. */
export class EventWriter {
  readonly #resource: ApiResource
  readonly #shape: Representation['shape']
  readonly #includeObject: IncludeObject
  #hasColumns = false

  constructor(resource: ApiResource, representation: Representation, includeObject: IncludeObject) {
    this.#resource = resource
    this.#shape = representation.shape
    this.#includeObject = includeObject
  }

  line(event: SeenEvent): Buffer {
    const { type, stored } = event
    if (this.#shape !== 'object') return line(type, this.#shaped(stored.object))
    const known = lines.get(stored)?.get(`${type}${this.#resource.apiVersion}`)
    if (known !== undefined) return known
    const served = toServed(this.#resource, stored.object)
    const made =
      served === stored.object ? Buffer.from(`{"type":"${type}","object":${stored.json}}\n`) : line(type, served)
    const byType = lines.get(stored) ?? new Map<string, Buffer>()
    lines.set(stored, byType.set(`${type}${this.#resource.apiVersion}`, made))
    for (const oldest of lines.keys()) {
      if (lines.size <= MAX_LINES) break
      lines.delete(oldest)
    }
    return made
  }

  /** Tells the client how far it is. `isInitialEnd`: all objects of the start have been sent. */
  bookmark(revision: number, isInitialEnd = false): Buffer {
    const { kind, apiVersion } = this.#resource
    const metadata: KubeObject['metadata'] = {
      resourceVersion: String(revision),
      ...(isInitialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    }
    // A pod of which nothing is set is written with its mandatory fields.
    const body = kind === 'Pod' ? { spec: { containers: null }, status: {} } : {}
    const object: KubeObject = { kind, apiVersion, metadata, ...body }
    return line('BOOKMARK', this.#shape === 'object' ? object : this.#shaped(object))
  }

  #shaped(object: KubeObject): object {
    if (this.#shape !== 'table') return partialMetadata(object)
    const table = toTable(this.#resource, [toServed(this.#resource, object)], {
      includeObject: this.#includeObject,
      metadata: { resourceVersion: object.metadata.resourceVersion ?? '' },
    })
    // Clients take the columns from the first event.
    if (this.#hasColumns) return { ...table, columnDefinitions: null }
    this.#hasColumns = true
    return table
  }
}

const line = (type: string, object: object): Buffer => Buffer.from(`${JSON.stringify({ type, object })}\n`)

/** A failure that is found after the stream began. */
export function errorLine(status: object): Buffer {
  return line('ERROR', status)
}
