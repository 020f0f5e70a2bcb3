import type { KubeObject, WatchEventType } from '#libs/kube-model'
import { RevisionDatabase } from './database.ts'
import { History } from './history.ts'
import { ResourceIndex } from './resource-index.ts'
import { StoredVersion, canonicalOrder } from './stored-object.ts'
import type { StoredEvent } from './stored-object.ts'

export type StoreOptions = {
  /** Path of the SQLite file, or `:memory:`. */
  file: string
  /** Changes kept for watches to start from. @default 20000 */
  historyLimit?: number
  /** Characters of JSON that these changes have at most together; the oldest go first. @default 32 million */
  historySize?: number
}

export type Write = {
  type: WatchEventType
  resource: string
  namespace: string
  name: string
  /** Owned by the store from now on; its resourceVersion is set. */
  object: KubeObject
}

/** Compaction removes this many events at once, so that most writes do not pay for it. */
const COMPACTION_BATCH = 500
/** The same for their size, as a part of what is kept. */
const COMPACTION_SHARE = 1 / 8

/**
 * The objects of one cluster: all in memory, each change appended to the file before it becomes visible. Synchronous;
 * knows nothing of kinds, see `registry/` for that.
 */
export class ClusterStore {
  readonly #database: RevisionDatabase
  readonly #indexes = new Map<string, ResourceIndex>()
  readonly #history: History
  readonly #historyLimit: number
  readonly #historySize: number
  readonly #listeners = new Map<string, Set<(event: StoredEvent) => void>>()
  #revision: number

  constructor(options: StoreOptions) {
    this.#historyLimit = options.historyLimit ?? 20_000
    this.#historySize = options.historySize ?? 32_000_000
    this.#database = new RevisionDatabase(options.file)
    const floor = Number(this.#database.setting('floor') ?? 0)
    this.#revision = Number(this.#database.setting('newest') ?? 0)
    this.#history = new History(floor)
    for (const { type, stored } of this.#database.read()) {
      const index = this.#index(stored.resource)
      const previous = index.get(stored.namespace, stored.name)
      previous?.release()
      if (type === 'DELETED') index.delete(stored.namespace, stored.name)
      else index.set(stored)
      if (stored.revision > floor) {
        this.#history.append({ type, revision: stored.revision, current: stored, previous })
      }
      this.#revision = Math.max(this.#revision, stored.revision)
    }
    this.#bound()
  }

  /** The newest revision: the resourceVersion of lists. */
  get revision(): number {
    return this.#revision
  }

  /** The newest revision that watches and lists can no longer start from. */
  get floor(): number {
    return this.#history.floor
  }

  get(resource: string, namespace: string, name: string): StoredVersion | undefined {
    return this.#indexes.get(resource)?.get(namespace, name)
  }

  /** Current objects by namespace, then name. Not to be changed. */
  list(resource: string, namespace?: string): readonly StoredVersion[] {
    return this.#indexes.get(resource)?.list(namespace) ?? []
  }

  /** Objects as they were at `revision`; `undefined` when that is compacted. */
  listAt(resource: string, namespace: string | undefined, revision: number): readonly StoredVersion[] | undefined {
    if (revision < this.#history.floor) return undefined
    if (revision >= this.#revision) return this.list(resource, namespace)
    const past = new ResourceIndex()
    for (const stored of this.list(resource, namespace)) past.set(stored)
    for (const { current, previous } of this.#history.backTo(revision)) {
      if (current.resource !== resource || (namespace !== undefined && current.namespace !== namespace)) continue
      if (previous === undefined) past.delete(current.namespace, current.name)
      else past.set(previous)
    }
    return past.list(namespace)
  }

  /** Changes after `revision`, oldest first; `undefined` when some of them are compacted. */
  since(revision: number): Iterable<StoredEvent> | undefined {
    return this.#history.since(revision)
  }

  /** Stores a change under the next revision and tells the subscribers. */
  write(write: Write): StoredVersion {
    const { type, resource, namespace, name } = write
    const revision = this.#revision + 1
    const object = canonicalOrder(write.object)
    object.metadata = { ...object.metadata, resourceVersion: String(revision) }
    const json = JSON.stringify(object)
    const current = new StoredVersion({ resource, namespace, name, revision, object, json })
    const index = this.#index(resource)
    const event: StoredEvent = { type, revision, current, previous: index.get(namespace, name) }
    this.#database.append(event)
    this.#revision = revision
    if (type === 'DELETED') index.delete(namespace, name)
    else index.set(current)
    this.#history.append(event)
    this.#bound()
    for (const listener of this.#listeners.get(resource) ?? []) listener(event)
    event.previous?.release()
    if (type === 'DELETED') current.release()
    return current
  }

  /** Forgets all but the newest `keep` changes; the objects themselves stay. */
  compact(keep: number): void {
    const gone = this.#history.shift(keep)
    if (gone.length === 0) return
    const rows: number[] = []
    for (const { type, current, previous } of gone) {
      // The row of a forgotten change stays as the previous version of the next one, until that is forgotten too.
      if (previous !== undefined) rows.push(previous.revision)
      if (type === 'DELETED') rows.push(current.revision)
    }
    this.#database.compact(rows, this.#history.floor, this.#revision)
  }

  /** Calls back within each write of the resource, after it is stored. @returns stops the calls */
  subscribe(resource: string, listener: (event: StoredEvent) => void): () => void {
    let listeners = this.#listeners.get(resource)
    if (listeners === undefined) {
      listeners = new Set()
      this.#listeners.set(resource, listeners)
    }
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  /** A value that outlives restarts, such as the cluster's options. */
  setting(key: string): string | undefined {
    return this.#database.setting(key)
  }

  setSetting(key: string, value: string): void {
    this.#database.setSetting(key, value)
  }

  close(): void {
    this.#listeners.clear()
    this.#database.close()
  }

  #bound(): void {
    if (this.#history.length >= this.#historyLimit + COMPACTION_BATCH) this.compact(this.#historyLimit)
    if (this.#history.size > this.#historySize * (1 + COMPACTION_SHARE))
      this.compact(this.#history.fitting(this.#historySize))
  }

  #index(resource: string): ResourceIndex {
    let index = this.#indexes.get(resource)
    if (index === undefined) {
      index = new ResourceIndex()
      this.#indexes.set(resource, index)
    }
    return index
  }
}
