import type { Database } from './database.ts'

/** Former registrations remembered per name: what was sent for one may still come for as long as the log holds it. */
const FORMER = 8

/**
 * Which registration of each tenant's name is folded in. A tenant may be removed and registered again under its name; the
 * log and the registry tell of that apart, and either may be first.
 */
export class Registrations {
  readonly #uids: Map<string, string>
  readonly #insert
  readonly #remove
  readonly #meta
  readonly #setMeta
  /** Uids that the log has brought in place of these, which the registry has not told of here yet. */
  readonly #superseded = new Map<string, string>()

  constructor(database: Database) {
    const stored = database.prepare<[], { name: string; uid: string }>('SELECT name, uid FROM tenants').all()
    this.#uids = new Map(stored.map(({ name, uid }) => [name, uid]))
    this.#insert = database.prepare<[string, string]>('INSERT OR REPLACE INTO tenants VALUES (?, ?)')
    this.#remove = database.prepare<[string]>('DELETE FROM tenants WHERE name = ?')
    this.#meta = database.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?')
    this.#setMeta = database.prepare<[string, string]>('INSERT OR REPLACE INTO meta VALUES (?, ?)')
  }

  names(): string[] {
    return [...this.#uids.keys()]
  }

  uidOf(name: string): string | undefined {
    return this.#uids.get(name)
  }

  /** What a change made for this registration is of: the one that is folded in, one before it, or one after it. */
  standing(name: string, uid: string): 'current' | 'former' | 'next' {
    if (this.#uids.get(name) === uid) return 'current'
    return this.#former(name).includes(uid) ? 'former' : 'next'
  }

  /** Whether the log has brought a later registration already, and the registry tells of the one before it. */
  isSuperseded(name: string, uid: string): boolean {
    return this.#superseded.get(name) === uid && this.#uids.get(name) !== uid
  }

  /** @param options.byLog whether the log has brought it: the registry may tell of the one before it for a moment */
  bind(name: string, uid: string, options: { byLog: boolean; instead?: string | undefined }): void {
    const former = this.#former(name)
    if (former.includes(uid)) this.#setFormer(name, former.toSpliced(former.indexOf(uid), 1))
    this.#insert.run(name, uid)
    this.#uids.set(name, uid)
    if (options.byLog && options.instead !== undefined) this.#superseded.set(name, options.instead)
    else this.#superseded.delete(name)
  }

  /** Takes note that nothing of the name is folded in any more. `retired` is over for good. */
  unbind(name: string, retired: string | undefined): void {
    if (retired !== undefined) this.#setFormer(name, [...new Set([...this.#former(name), retired])].slice(-FORMER))
    this.#remove.run(name)
    this.#uids.delete(name)
  }

  #former(name: string): string[] {
    const stored = this.#meta.get(`former/${name}`)?.value
    return stored === undefined ? [] : (JSON.parse(stored) as string[])
  }

  #setFormer(name: string, uids: readonly string[]): void {
    this.#setMeta.run(`former/${name}`, JSON.stringify(uids))
  }
}
