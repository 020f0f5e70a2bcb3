import { type KubeObject, type ObjectKey, type ObjectRef, type Side, keyString } from '#libs/kube-model'
import type { Presence } from '#libs/translation'
import type { Vault } from '#libs/vault'
import type { Database } from './database.ts'

type Row = { uid: string; rv: string; seq: number; virtual_uid: string | null; body: string | null }

/** An object as stored: its last state or, without `object`, its tombstone. */
export type StoredObject = {
  uid: string
  resourceVersion: string
  seq: number
  /** On the host: the uid of the virtual object it stands for, as stamped. */
  virtualUid?: string
  object?: KubeObject
}

/** Parsed objects kept in memory: decisions come in bursts on the same ones. */
const CACHE_ENTRIES = 2_000

/** The last state or tombstone of every object of a partition. Bodies of covered resources are sealed at rest. */
export class ObjectTable {
  readonly #vault: Vault
  readonly #cache = new Map<string, StoredObject>()
  readonly #get
  readonly #put
  readonly #names
  readonly #namesIn

  constructor(database: Database, vault: Vault) {
    this.#vault = vault
    const key = 'tenant = ? AND side = ? AND resource = ?'
    this.#get = database.prepare<[string, Side, string, string, string], Row>(
      `SELECT uid, rv, seq, virtual_uid, body FROM objects WHERE ${key} AND namespace = ? AND name = ?`,
    )
    this.#put = database.prepare<
      [string, Side, string, string, string, string, string, number, string | null, string | null]
    >(
      `INSERT INTO objects (tenant, side, resource, namespace, name, uid, rv, seq, virtual_uid, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET uid = excluded.uid, rv = excluded.rv, seq = excluded.seq,
         virtual_uid = excluded.virtual_uid, body = excluded.body`,
    )
    this.#names = database.prepare<[string, Side, string], { namespace: string; name: string }>(
      `SELECT namespace, name FROM objects WHERE ${key} AND body IS NOT NULL`,
    )
    this.#namesIn = database.prepare<[string, Side, string, string], { namespace: string; name: string }>(
      `SELECT namespace, name FROM objects WHERE ${key} AND namespace = ? AND body IS NOT NULL`,
    )
  }

  /** The object's last state or tombstone, `undefined` when it was never seen. */
  get(key: ObjectKey): StoredObject | undefined {
    const id = keyString(key)
    const cached = this.#cache.get(id)
    if (cached !== undefined) return cached
    const row = this.#get.get(key.tenant, key.side, key.resource, key.namespace, key.name)
    if (row === undefined) return undefined
    const stored: StoredObject = {
      uid: row.uid,
      resourceVersion: row.rv,
      seq: row.seq,
      ...(row.virtual_uid === null ? {} : { virtualUid: row.virtual_uid }),
      ...(row.body === null ? {} : { object: this.#vault.unseal(key, JSON.parse(row.body) as KubeObject) }),
    }
    this.#remember(id, stored)
    return stored
  }

  /**
   * Stores a state or tombstone.
   * @param logged the object as it stands in the log: sealed where the vault covers it
   */
  put(key: ObjectKey, stored: Omit<StoredObject, 'object'>, logged: KubeObject | undefined): StoredObject {
    const body = logged === undefined ? null : JSON.stringify(logged)
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
      body,
    )
    const full = { ...stored, ...(logged === undefined ? {} : { object: this.#vault.unseal(key, logged) }) }
    this.#remember(keyString(key), full)
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

  /** Keys of all objects of a resource that are there, optionally in one namespace. */
  list(of: Pick<ObjectKey, 'tenant' | 'side' | 'resource'>, namespace?: string): ObjectRef[] {
    const rows =
      namespace === undefined
        ? this.#names.all(of.tenant, of.side, of.resource)
        : this.#namesIn.all(of.tenant, of.side, of.resource, namespace)
    return rows.map((row) => ({ resource: of.resource, namespace: row.namespace, name: row.name }))
  }

  /** Drops what is kept in memory, after a rollback. */
  forgetCache(): void {
    this.#cache.clear()
  }

  #remember(id: string, stored: StoredObject): void {
    this.#cache.delete(id)
    this.#cache.set(id, stored)
    if (this.#cache.size > CACHE_ENTRIES) {
      const oldest = this.#cache.keys().next()
      if (!oldest.done) this.#cache.delete(oldest.value)
    }
  }
}
