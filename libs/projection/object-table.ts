import { type KubeObject, type ObjectKey, type ObjectRef, type Side, keyString } from '#libs/kube-model'
import type { Presence } from '#libs/translation'
import type { Vault } from '#libs/vault'
import type { Database } from './database.ts'

type Row = {
  uid: string
  rv: string
  seq: number
  virtual_uid: string | null
  gone_at: number | null
  body: string | null
}

/** An object as stored: its last state or, without `object`, its tombstone. */
export type StoredObject = {
  uid: string
  resourceVersion: string
  seq: number
  /** On the host: the uid of the virtual object it stands for, as stamped. */
  virtualUid?: string
  /** Of a tombstone: when the log stored it, ms since the epoch. */
  goneAt?: number
  object?: KubeObject
}

/** Names of objects, as {@link ObjectTable.page} goes through them. */
export type NamePage = { namespace: string; name: string }[]

/** Parsed objects kept in memory: decisions come in bursts on the same ones. */
const CACHE_ENTRIES = 2_000
/** Objects may have a megabyte each: length of their JSON in characters, together. */
const CACHE_LENGTH = 16_000_000

/** The last state or tombstone of every object of a partition. Bodies of covered resources are sealed at rest. */
export class ObjectTable {
  readonly #vault: Vault
  readonly #database: Database
  readonly #cache = new Map<string, { stored: StoredObject; length: number }>()
  #cacheLength = 0
  #isUsed = false
  readonly #get
  readonly #put
  readonly #page
  readonly #namesIn
  readonly #count
  readonly #countIn

  constructor(database: Database, vault: Vault) {
    this.#vault = vault
    this.#database = database
    const key = 'tenant = ? AND side = ? AND resource = ?'
    this.#get = database.prepare<[string, Side, string, string, string], Row>(
      `SELECT uid, rv, seq, virtual_uid, gone_at, body FROM objects WHERE ${key} AND namespace = ? AND name = ?`,
    )
    this.#put = database.prepare<
      [string, Side, string, string, string, string, string, number, string | null, number | null, string | null]
    >(
      `INSERT INTO objects (tenant, side, resource, namespace, name, uid, rv, seq, virtual_uid, gone_at, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET uid = excluded.uid, rv = excluded.rv, seq = excluded.seq,
         virtual_uid = excluded.virtual_uid, gone_at = excluded.gone_at, body = excluded.body`,
    )
    this.#page = database.prepare<[string, Side, string, string, string, number], NamePage[number]>(
      `SELECT namespace, name FROM objects WHERE ${key} AND (namespace, name) > (?, ?) AND body IS NOT NULL
       ORDER BY namespace, name LIMIT ?`,
    )
    this.#count = database.prepare<[string, Side, string], { count: number }>(
      `SELECT count(*) AS count FROM objects WHERE ${key} AND body IS NOT NULL`,
    )
    this.#countIn = database.prepare<[string, Side, string], { count: number }>(
      'SELECT count(*) AS count FROM objects WHERE tenant = ? AND side = ? AND namespace = ? AND body IS NOT NULL',
    )
    this.#namesIn = database.prepare<[string, Side, string, string], NamePage[number]>(
      `SELECT namespace, name FROM objects WHERE ${key} AND namespace = ? AND body IS NOT NULL`,
    )
  }

  /** How many objects of a resource are there. */
  count(of: Pick<ObjectKey, 'tenant' | 'side' | 'resource'>): number {
    return this.#count.get(of.tenant, of.side, of.resource)?.count ?? 0
  }

  /** How many objects of whatever resource are there in a namespace. */
  countIn(of: Pick<ObjectKey, 'tenant' | 'side' | 'namespace'>): number {
    return this.#countIn.get(of.tenant, of.side, of.namespace)?.count ?? 0
  }

  /** The object's last state or tombstone, `undefined` when it was never seen. */
  get(key: ObjectKey): StoredObject | undefined {
    this.#isUsed = true
    const id = keyString(key)
    const cached = this.#cache.get(id)
    if (cached !== undefined) return cached.stored
    const row = this.#get.get(key.tenant, key.side, key.resource, key.namespace, key.name)
    if (row === undefined) return undefined
    const stored = fromRow(row, (logged) => this.#vault.unseal(key, logged))
    this.#remember(id, stored, row.body?.length ?? 0)
    return stored
  }

  /** The same without opening what is sealed: for those who look at metadata only. */
  peek(key: ObjectKey): StoredObject | undefined {
    if (!this.#vault.covers(key.resource)) return this.get(key)
    const cached = this.#cache.get(keyString(key))
    if (cached !== undefined) return cached.stored
    const row = this.#get.get(key.tenant, key.side, key.resource, key.namespace, key.name)
    return row === undefined ? undefined : fromRow(row, (logged) => logged)
  }

  /**
   * Stores a state or tombstone.
   * @param logged the object as it stands in the log: sealed where the vault covers it
   * @throws CausewayError `SealBroken` when it cannot be opened; nothing is stored then
   */
  put(key: ObjectKey, stored: Omit<StoredObject, 'object'>, logged: KubeObject | undefined): StoredObject {
    const body = logged === undefined ? null : JSON.stringify(logged)
    const object = logged === undefined ? {} : { object: this.#vault.unseal(key, logged) }
    const { tenant, side, resource, namespace, name } = key
    this.#put.run(
      tenant,
      side,
      resource,
      namespace,
      name,
      stored.uid,
      stored.resourceVersion,
      stored.seq,
      stored.virtualUid ?? null,
      stored.goneAt ?? null,
      body,
    )
    this.#isUsed = true
    const full = { ...stored, ...object }
    this.#remember(keyString(key), full, body?.length ?? 0)
    return full
  }

  /** The object as a decision sees it. */
  presence(key: ObjectKey): Presence {
    const stored = this.get(key)
    if (stored === undefined) return { seq: 0 }
    if (stored.object !== undefined) return { object: stored.object, seq: stored.seq }
    const virtualUid = stored.virtualUid === undefined ? {} : { virtualUid: stored.virtualUid }
    return { gone: { uid: stored.uid, seq: stored.seq, ...virtualUid }, seq: stored.seq }
  }

  /** Keys of all objects of a resource that are there in one namespace. */
  listIn(of: Pick<ObjectKey, 'tenant' | 'side' | 'resource' | 'namespace'>): ObjectRef[] {
    const rows = this.#namesIn.all(of.tenant, of.side, of.resource, of.namespace)
    return rows.map((row) => ({ resource: of.resource, namespace: row.namespace, name: row.name }))
  }

  /** Names of the objects of a resource that are there, in order, beginning after one of them. */
  page(
    of: Pick<ObjectKey, 'tenant' | 'side' | 'resource'>,
    after: NamePage[number] | undefined,
    limit: number,
  ): NamePage {
    return this.#page.all(of.tenant, of.side, of.resource, after?.namespace ?? '', after?.name ?? '', limit)
  }

  /** Drops what is kept in memory, after a rollback. */
  forgetCache(): void {
    this.#cache.clear()
    this.#cacheLength = 0
  }

  /** The same, when nothing was read or stored since the last call: what is at rest need not be at hand. */
  forgetIdleCache(): void {
    if (!this.#isUsed) {
      this.forgetCache()
      // SQLite's pages as well: 2 MB of each partition.
      this.#database.pragma('shrink_memory')
    }
    this.#isUsed = false
  }

  #remember(id: string, stored: StoredObject, length: number): void {
    this.#cacheLength += length - (this.#cache.get(id)?.length ?? 0)
    this.#cache.delete(id)
    this.#cache.set(id, { stored, length })
    if (this.#cache.size <= CACHE_ENTRIES && this.#cacheLength <= CACHE_LENGTH) return
    // Some at once: finding the oldest takes as long as some have gone before it.
    const isEnough = (): boolean => this.#cache.size <= CACHE_ENTRIES * 0.9 && this.#cacheLength <= CACHE_LENGTH * 0.9
    for (const [oldest, entry] of this.#cache) {
      if (isEnough()) break
      this.#cache.delete(oldest)
      this.#cacheLength -= entry.length
    }
  }
}

function fromRow(row: Row, open: (logged: KubeObject) => KubeObject): StoredObject {
  return {
    uid: row.uid,
    resourceVersion: row.rv,
    seq: row.seq,
    ...(row.virtual_uid === null ? {} : { virtualUid: row.virtual_uid }),
    ...(row.gone_at === null ? {} : { goneAt: row.gone_at }),
    ...(row.body === null ? {} : { object: open(JSON.parse(row.body) as KubeObject) }),
  }
}
