import type { ObjectRef, Side } from '#libs/kube-model'
import type { Database } from './database.ts'

/** A tenant's virtual object: what decisions are made about. */
export type DecisionKey = { tenant: string; ref: ObjectRef }

/** What is under way for one write slot of a key. */
export type Pending = {
  /** Which write of the key: target, operation and subresource; or `wait`, `reject`, `note`, `unread`. */
  slot: string
  intentId: string
  /** Fingerprint of the write: the same write is not asked for twice. */
  digest: string
  /** How often this same write was asked for before. */
  attempt: number
  /**
   * `issued`: in the log, no outcome yet. `done`: made, its echo in the watch not seen yet. `settled`: made and echoed.
   * `retry`: to be decided again at once. `parked`: waits for `reason`. `waiting`: not decided yet, see `Decision` wait.
   * `noted`: nothing waits, and `reason` is to be known all the same.
   */
  state: 'issued' | 'done' | 'settled' | 'retry' | 'parked' | 'waiting' | 'noted'
  reason?: string
  message?: string
  /** resourceVersion that the write resulted in. */
  resultVersion?: string
  /** Whether the write changes what both sides agree on, see `Decision.base`. */
  carriesBase: boolean
  /** When this state began, ms since the epoch. */
  since: number
  /** When to look at it again, ms since the epoch. */
  due?: number
}

type Row = {
  slot: string
  intent_id: string
  digest: string
  attempt: number
  state: Pending['state']
  reason: string | null
  message: string | null
  result_rv: string | null
  carries_base: number
  since: number
  due: number | null
}

/** Which parked writes are to be tried again at once. */
export type Waking = {
  tenant: string
  reason: string
  side?: Side
  /** What is written, not what it is written for. @default all */
  resource?: string
  /** @default all */
  limit?: number
}

/** Which of a tenant's waiting writes are to be tried again, whatever they are due: all of them where nothing more is said. */
export type Retrying = { tenant: string; object?: ObjectRef; reason?: string }

type KeyRow = { tenant: string; resource: string; namespace: string; name: string }

/** A tenant that is not bound is not decided about, so its keys must not hide those that are due after them. */
const ofKnownTenant = 'tenant IN (SELECT name FROM tenants)'

/**
 * By the index that holds few rows. Left to itself, SQLite goes through all rows of a tenant by their key, of which there
 * are several for each object that is in sync.
 */
const byReason = 'pending INDEXED BY pending_reason'

/** A parked write that is tried once more still waits for what it waited for. */
const isWaiting = "reason IS NOT NULL AND state IN ('parked', 'waiting', 'retry', 'issued')"

/** Writes under way, waiting and parked, per key. */
export class PendingTable {
  readonly #of
  readonly #put
  readonly #delete
  readonly #due
  readonly #nextDue
  readonly #parked
  readonly #parkedFor
  readonly #parkedByReason
  readonly #waitingByReason
  readonly #waitingLongest
  readonly #newestWaiting
  readonly #retry
  readonly #wake
  readonly #waiting
  readonly #noted
  readonly #unansweredSince
  readonly #inSlot

  constructor(database: Database) {
    const key = 'tenant = ? AND resource = ? AND namespace = ? AND name = ?'
    this.#of = database.prepare<[string, string, string, string], Row>(`SELECT * FROM pending WHERE ${key}`)
    this.#put = database.prepare<(string | number | null)[]>(
      `INSERT OR REPLACE INTO pending
       (tenant, resource, namespace, name, slot, intent_id, digest, attempt, state, reason, message, result_rv, carries_base, since, due)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#delete = database.prepare<[string, string, string, string, string]>(
      `DELETE FROM pending WHERE ${key} AND slot = ?`,
    )
    this.#due = database.prepare<[number, number], KeyRow>(
      `SELECT DISTINCT tenant, resource, namespace, name FROM pending
       WHERE due IS NOT NULL AND due <= ? AND +${ofKnownTenant} LIMIT ?`,
    )
    // In the order of the index, which ends at the first: `min` would look at every row that is due one day.
    this.#nextDue = database.prepare<[], { due: number }>(
      `SELECT due FROM pending WHERE due IS NOT NULL AND +${ofKnownTenant} ORDER BY due LIMIT 1`,
    )
    this.#parked = database.prepare<[], Row & KeyRow>("SELECT * FROM pending WHERE state = 'parked'")
    this.#parkedFor = database.prepare<[string, string], KeyRow>(
      `SELECT tenant, resource, namespace, name FROM ${byReason} WHERE tenant = ? AND reason = ? AND state = 'parked'`,
    )
    this.#wake = database.prepare<[string, string, string, number], KeyRow>(
      `UPDATE pending SET due = 0 WHERE (tenant, resource, namespace, name, slot) IN (
         SELECT tenant, resource, namespace, name, slot FROM ${byReason}
         WHERE tenant = ? AND reason = ? AND state = 'parked' AND due IS NOT NULL AND slot GLOB ? LIMIT ?)
       RETURNING tenant, resource, namespace, name`,
    )
    this.#retry = database.prepare<Record<string, string | null>, KeyRow>(
      `UPDATE pending SET due = 0
       WHERE tenant = @tenant AND reason IS NOT NULL AND state IN ('parked', 'waiting')
         AND (@reason IS NULL OR reason = @reason)
         AND (@name IS NULL OR (resource = @resource AND namespace = @namespace AND name = @name))
       RETURNING tenant, resource, namespace, name`,
    )
    this.#newestWaiting = database.prepare<[string], ObjectRef & { reason: string; message: string; since: number }>(
      `SELECT resource, namespace, name, reason, message, since FROM ${byReason}
       WHERE tenant = ? AND reason IS NOT NULL AND message IS NOT NULL AND state = 'parked'
       ORDER BY since DESC, resource, namespace, name LIMIT 1`,
    )
    this.#waiting = database.prepare<[string, number], { count: number }>(
      `SELECT count(*) AS count FROM
         (SELECT 1 FROM ${byReason} WHERE tenant = ? AND reason IS NOT NULL AND state <> 'noted' LIMIT ?)`,
    )
    this.#noted = database.prepare<[], { reason: string; count: number }>(
      `SELECT reason, count(*) AS count FROM ${byReason} WHERE reason IS NOT NULL AND state = 'noted' GROUP BY reason`,
    )
    this.#unansweredSince = database.prepare<[], { since: number | null }>(
      `SELECT min(since) AS since FROM pending INDEXED BY pending_due
       WHERE due IS NOT NULL AND state = 'issued' AND reason IS NULL`,
    )
    this.#inSlot = database.prepare<[string], Row & KeyRow>(
      `SELECT * FROM ${byReason} WHERE reason IS NOT NULL AND slot = ?`,
    )
    this.#waitingByReason = database.prepare<[], { tenant: string; reason: string; count: number }>(
      `SELECT tenant, reason, count(DISTINCT resource || '/' || namespace || '/' || name) AS count FROM pending
       WHERE ${isWaiting} AND ${ofKnownTenant} GROUP BY tenant, reason`,
    )
    this.#waitingLongest = database.prepare<[string, number], ObjectRef & { reason: string; since: number }>(
      `SELECT resource, namespace, name, reason, min(since) AS since FROM pending WHERE tenant = ? AND ${isWaiting}
       GROUP BY resource, namespace, name, reason ORDER BY since, resource, namespace, name LIMIT ?`,
    )
    this.#parkedByReason = database.prepare<[], { reason: string; count: number }>(
      `SELECT reason, count(*) AS count FROM ${byReason}
       WHERE reason IS NOT NULL AND state IN ('parked', 'waiting') GROUP BY reason`,
    )
  }

  /** All that is under way for a key. */
  of(key: DecisionKey): Pending[] {
    return this.#of.all(key.tenant, key.ref.resource, key.ref.namespace, key.ref.name).map(fromRow)
  }

  put(key: DecisionKey, pending: Pending): void {
    this.#put.run(
      key.tenant,
      key.ref.resource,
      key.ref.namespace,
      key.ref.name,
      pending.slot,
      pending.intentId,
      pending.digest,
      pending.attempt,
      pending.state,
      pending.reason ?? null,
      pending.message ?? null,
      pending.resultVersion ?? null,
      pending.carriesBase ? 1 : 0,
      pending.since,
      pending.due ?? null,
    )
  }

  delete(key: DecisionKey, slot: string): void {
    this.#delete.run(key.tenant, key.ref.resource, key.ref.namespace, key.ref.name, slot)
  }

  /** Keys that are to be looked at again by `now`, at most `limit`. */
  due(now: number, limit: number): DecisionKey[] {
    return this.#due.all(now, limit).map(keyOfRow)
  }

  /** When the next key is due, ms since the epoch. */
  nextDue(): number | undefined {
    return this.#nextDue.get()?.due
  }

  /** Everything that is parked. */
  parked(): (DecisionKey & Pending)[] {
    return this.#parked.all().map((row) => ({
      ...keyOfRow(row),
      ...fromRow(row),
    }))
  }

  /** A tenant's keys that wait for this reason. */
  parkedFor(tenant: string, reason: string): DecisionKey[] {
    return this.#parkedFor.all(tenant, reason).map(keyOfRow)
  }

  /** Makes what waits due, also what would not be tried again. @returns its keys, one for each write */
  retry({ tenant, object, reason }: Retrying): DecisionKey[] {
    const { resource = null, namespace = null, name = null } = object ?? {}
    return this.#retry.all({ tenant, reason: reason ?? null, resource, namespace, name }).map(keyOfRow)
  }

  /** The object of a tenant that began to wait last, with the API's words. */
  newestWaiting(tenant: string): (ObjectRef & { reason: string; message: string; since: number }) | undefined {
    return this.#newestWaiting.get(tenant)
  }

  /** Makes parked writes due, but those that are not to be tried. @returns their keys, to be decided about again */
  wake({ tenant, reason, side, resource, limit = -1 }: Waking): DecisionKey[] {
    // What is not decided yet, or rejected, has a slot of no side.
    return this.#wake.all(tenant, reason, `${side ?? '*'}/${resource ?? '*'}/*`, limit).map(keyOfRow)
  }

  /** How much of a tenant waits for whatever reason, counted up to `limit`. */
  countWaiting(tenant: string, limit: number): number {
    return this.#waiting.get(tenant, limit)?.count ?? 0
  }

  /** How many writes are parked, and creations wait for a moment, by reason. */
  parkedByReason(): { reason: string; count: number }[] {
    return this.#parkedByReason.all()
  }

  /** How many objects have a reason although nothing of them waits, by that. */
  notedByReason(): { reason: string; count: number }[] {
    return this.#noted.all()
  }

  /** Since when the oldest intent has been without an answer, ms since the epoch. */
  unansweredSince(): number | undefined {
    return this.#unansweredSince.get()?.since ?? undefined
  }

  /** All rows of a slot, whatever key they are of. */
  inSlot(slot: string): (DecisionKey & Pending)[] {
    return this.#inSlot.all(slot).map((row) => ({ ...keyOfRow(row), ...fromRow(row) }))
  }

  /** How many objects of each tenant wait, by reason. */
  waitingByReason(): { tenant: string; reason: string; count: number }[] {
    return this.#waitingByReason.all()
  }

  /** A tenant's objects that have waited longest, with reason and since when, ms since the epoch. */
  waitingLongest(tenant: string, limit: number): (ObjectRef & { reason: string; since: number })[] {
    return this.#waitingLongest.all(tenant, limit)
  }
}

function keyOfRow({ tenant, resource, namespace, name }: KeyRow): DecisionKey {
  return { tenant, ref: { resource, namespace, name } }
}

function fromRow(row: Row): Pending {
  return {
    slot: row.slot,
    intentId: row.intent_id,
    digest: row.digest,
    attempt: row.attempt,
    state: row.state,
    since: row.since,
    carriesBase: row.carries_base === 1,
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.message === null ? {} : { message: row.message }),
    ...(row.result_rv === null ? {} : { resultVersion: row.result_rv }),
    ...(row.due === null ? {} : { due: row.due }),
  }
}
