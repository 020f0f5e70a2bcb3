import type { ObjectKey, Side } from '#libs/kube-model'
import { isMirrored } from '#libs/translation'
import type { Database } from './database.ts'

type Row = {
  tenant: string
  side: Side
  resource: string
  namespace: string
  name: string
  virtual_uid: string | null
}

/**
 * Finds tombstones that have outlived their use. One is kept as long as it is what a deletion on the other side is
 * proven by, or what keeps a pod that has run from being run again: while its counterpart is there. Without one,
 * deletion still needs a live read that says so, so dropping one too early costs a request and no object.
 */
export class TombstoneTable {
  readonly #old
  readonly #original
  readonly #drop
  readonly #keep

  constructor(database: Database) {
    const key = 'tenant = ? AND side = ? AND resource = ? AND namespace = ? AND name = ?'
    this.#old = database.prepare<[number, number], Row>(
      `SELECT tenant, side, resource, namespace, name, virtual_uid FROM objects
       WHERE gone_at IS NOT NULL AND gone_at < ? ORDER BY gone_at LIMIT ?`,
    )
    this.#original = database.prepare<[string, string, string], { found: 1 }>(
      `SELECT 1 AS found FROM objects
       WHERE tenant = ? AND side = 'virtual' AND resource = ? AND uid = ? AND body IS NOT NULL`,
    )
    this.#drop = database.prepare<string[]>(`DELETE FROM objects WHERE ${key} AND body IS NULL`)
    this.#keep = database.prepare<[number, ...string[]]>(`UPDATE objects SET gone_at = ? WHERE ${key}`)
  }

  /**
   * Drops tombstones from before `before`; those still needed are looked at again as if they were from `now`.
   * @returns how many were looked at, at most `limit`
   */
  expire(options: {
    before: number
    now: number
    limit: number
    hostCopyIsThere: (key: ObjectKey) => boolean
  }): number {
    const rows = this.#old.all(options.before, options.limit)
    for (const row of rows) {
      const key = [row.tenant, row.side, row.resource, row.namespace, row.name]
      if (this.#isNeeded(row, options.hostCopyIsThere)) this.#keep.run(options.now, ...key)
      else this.#drop.run(...key)
    }
    return rows.length
  }

  #isNeeded(row: Row, hostCopyIsThere: (key: ObjectKey) => boolean): boolean {
    if (isMirrored(row.resource)) return false
    if (row.side === 'virtual') return hostCopyIsThere(row)
    return row.virtual_uid !== null && this.#original.get(row.tenant, row.resource, row.virtual_uid) !== undefined
  }
}
