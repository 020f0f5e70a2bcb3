import Database from 'better-sqlite3'
import type { WatchEventType } from '#libs/kube-model'
import { StoredVersion } from './stored-object.ts'
import type { StoredEvent } from './stored-object.ts'

/**
 * One row per revision, as etcd keeps it: the newest row of a key is the object, older rows are the log that watches
 * are replayed from. A write is one insert.
 */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS revisions (
  revision INTEGER PRIMARY KEY,
  resource TEXT NOT NULL,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  value TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`

type Row = { revision: number; resource: string; namespace: string; name: string; type: WatchEventType; value: string }

/** The file of one cluster. Writes are durable against the death of the process when the call returns. */
export class RevisionDatabase {
  readonly #db: Database.Database
  readonly #insert: Database.Statement
  readonly #remove: Database.Statement
  readonly #getSetting: Database.Statement
  readonly #setSetting: Database.Statement

  constructor(file: string) {
    this.#db = new Database(file)
    this.#db.pragma('journal_mode = WAL')
    // A power failure may cost the last moments, a killed process nothing; FULL would fsync every write.
    this.#db.pragma('synchronous = NORMAL')
    // Checkpoints wait for the disk on the thread that answers requests: fewer, larger ones cost less.
    this.#db.pragma('wal_autocheckpoint = 4000')
    this.#db.exec(SCHEMA)
    this.#insert = this.#db.prepare('INSERT INTO revisions VALUES (?, ?, ?, ?, ?, ?)')
    this.#remove = this.#db.prepare('DELETE FROM revisions WHERE revision = ?')
    this.#getSetting = this.#db.prepare('SELECT value FROM settings WHERE key = ?').pluck()
    this.#setSetting = this.#db.prepare('INSERT OR REPLACE INTO settings VALUES (?, ?)')
  }

  append(event: StoredEvent): void {
    const { current } = event
    this.#insert.run(event.revision, current.resource, current.namespace, current.name, event.type, current.json)
  }

  /** All rows in order, as stored versions. */
  *read(): Generator<{ type: WatchEventType; stored: StoredVersion }> {
    for (const row of this.#db.prepare('SELECT * FROM revisions ORDER BY revision').iterate() as Iterable<Row>) {
      const { revision, resource, namespace, name, type, value } = row
      yield { type, stored: new StoredVersion({ resource, namespace, name, revision, json: value }) }
    }
  }

  /** Forgets the given rows; `floor` is the newest revision that can no longer be watched from. */
  compact(revisions: readonly number[], floor: number, newest: number): void {
    this.#db.transaction(() => {
      for (const revision of revisions) this.#remove.run(revision)
      this.#setSetting.run('floor', String(floor))
      this.#setSetting.run('newest', String(newest))
    })()
  }

  setting(key: string): string | undefined {
    return this.#getSetting.get(key) as string | undefined
  }

  setSetting(key: string, value: string): void {
    this.#setSetting.run(key, value)
  }

  close(): void {
    this.#db.close()
  }
}
