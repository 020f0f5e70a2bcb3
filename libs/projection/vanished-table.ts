import type { Side } from '#libs/kube-model'
import type { Database } from './database.ts'
import type { DecisionKey } from './pending-table.ts'

/** Side in the row that says that a tenant's objects are missing from an earlier state of a cluster. */
const DOUBT = 'doubt/'

/**
 * Deletions that were let go because the counterpart had vanished, for as long as they count. Kept with the decisions
 * themselves, so that a restart does not begin to count anew.
 */
export class VanishedTable {
  readonly #put
  readonly #has
  readonly #weight
  readonly #weightOf
  readonly #forget
  readonly #expire

  constructor(database: Database) {
    this.#put = database.prepare<(string | number)[]>('INSERT OR REPLACE INTO vanished VALUES (?, ?, ?, ?, ?, ?, ?)')
    this.#has = database.prepare<string[], { found: 1 }>(
      `SELECT 1 AS found FROM vanished
       WHERE tenant = ? AND side = ? AND resource = ? AND namespace = ? AND name = ?`,
    )
    this.#weight = database.prepare<[string], { weight: number | null }>(
      'SELECT sum(weight) AS weight FROM vanished WHERE tenant = ?',
    )
    this.#weightOf = database.prepare<[string, Side, string], { weight: number | null }>(
      'SELECT sum(weight) AS weight FROM vanished WHERE tenant = ? AND side = ? AND resource = ?',
    )
    this.#forget = database.prepare<[string]>(
      `DELETE FROM vanished WHERE tenant = ? AND (weight > 0 OR side LIKE '${DOUBT}%')`,
    )
    this.#expire = database.prepare<[number]>('DELETE FROM vanished WHERE until < ?')
  }

  /** @param item `side` the deletion is made on; `weight` objects go by it, and count until `until`, ms since the epoch */
  add(key: DecisionKey, item: { side: Side; weight: number; until: number }): void {
    const { resource, namespace, name } = key.ref
    this.#put.run(key.tenant, item.side, resource, namespace, name, item.weight, item.until)
  }

  has({ tenant, ref }: DecisionKey, side: Side): boolean {
    return this.#has.get(tenant, side, ref.resource, ref.namespace, ref.name) !== undefined
  }

  /** Notes that a tenant's objects on a side are missing from what seems an earlier state of their cluster. */
  doubt(tenant: string, side: Side): void {
    this.#put.run(tenant, DOUBT + side, '', '', '', 0, Number.MAX_SAFE_INTEGER)
  }

  isDoubted(tenant: string, side: Side): boolean {
    return this.#has.get(tenant, DOUBT + side, '', '', '') !== undefined
  }

  /** What counts of a tenant: of one side and resource, or of all. */
  weight(tenant: string, of?: { side: Side; resource: string }): number {
    const row = of === undefined ? this.#weight.get(tenant) : this.#weightOf.get(tenant, of.side, of.resource)
    return row?.weight ?? 0
  }

  /** Counts afresh for a tenant, and has no doubts any more. */
  forget(tenant: string): void {
    this.#forget.run(tenant)
  }

  expire(now: number): void {
    this.#expire.run(now)
  }
}
