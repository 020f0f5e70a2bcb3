import { existsSync, renameSync, rmSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { ConfigError } from '#libs/kernel'
import { CAUSE_INDEX, INDEXES, REPLAY_VERSION, TABLES, VIEWS } from './schema.ts'
import type { Row } from './rows.ts'

export type Table = 'changes' | 'intents' | 'outcomes' | 'unreadable' | 'decisions'

/** Rows per transaction: enough that its cost does not show, few enough that memory does not either. */
const ROWS_PER_TRANSACTION = 5_000

/** A replay that is being written. It has its name only once it is whole. */
export class ReplayFile {
  readonly #path: string
  readonly #database: Sqlite.Database
  readonly #inserts: Record<Table, Sqlite.Statement>
  #decidedAt: Sqlite.Statement | undefined
  #uncommitted = 0

  /** @throws ConfigError when `path` is there, or cannot be made */
  constructor(path: string) {
    if (existsSync(path)) throw new ConfigError([`${path}: is there already; remove it, or name another file`])
    this.#path = path
    const unfinished = unfinishedName(path)
    rmSync(unfinished, { force: true })
    try {
      this.#database = new Sqlite(unfinished)
    } catch (error) {
      throw new ConfigError([`${path}: cannot be made; the folder must be there and writable (${String(error)})`])
    }
    // Nobody reads it before it is whole, and what is not whole is thrown away: no journal, no waiting for the disk.
    this.#database.pragma('journal_mode = OFF')
    this.#database.pragma('synchronous = OFF')
    this.#database.pragma('locking_mode = EXCLUSIVE')
    this.#database.pragma('temp_store = MEMORY')
    this.#database.exec(TABLES)
    const insert = (table: Table): Sqlite.Statement => {
      const columns = this.#database.pragma(`table_info(${table})`) as { name: string }[]
      const names = columns.map(({ name }) => name)
      return this.#database.prepare(
        `INSERT OR IGNORE INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `@${name}`).join(', ')})`,
      )
    }
    this.#inserts = {
      changes: insert('changes'),
      intents: insert('intents'),
      outcomes: insert('outcomes'),
      unreadable: insert('unreadable'),
      decisions: insert('decisions'),
    }
  }

  /** Adds a row; one whose key is there already is left as it is. @returns whether it was new */
  add(table: Table, row: Row): boolean {
    if (this.#uncommitted === 0) this.#database.exec('BEGIN')
    const { changes } = this.#inserts[table].run(row)
    this.#uncommitted += 1
    if (this.#uncommitted >= ROWS_PER_TRANSACTION) this.#commit()
    return changes > 0
  }

  /** Adds indexes, views and what is said about the whole, and gives the file its name. */
  finish(meta: Readonly<Record<string, string>>): void {
    this.#commit()
    this.#database.exec(INDEXES)
    for (const [name, query] of Object.entries(VIEWS)) this.#database.exec(`CREATE VIEW ${name} AS ${query}`)
    const say = this.#database.prepare('INSERT INTO meta VALUES (?, ?)')
    for (const [name, value] of Object.entries({ version: String(REPLAY_VERSION), ...meta })) say.run(name, value)
    this.#database.pragma('optimize')
    this.#database.close()
    renameSync(unfinishedName(this.#path), this.#path)
  }

  /** When what follows from a change was decided, ms since the epoch; `undefined` where nothing followed. */
  decidedAt(seq: number): number | undefined {
    if (this.#decidedAt === undefined) {
      this.#commit()
      this.#database.exec(CAUSE_INDEX)
      this.#decidedAt = this.#database.prepare('SELECT max(decided_at) AS at FROM intents WHERE cause_seq = ?')
    }
    const { at } = this.#decidedAt.get(seq) as { at: number | null }
    return at ?? undefined
  }

  /** How many decisions today's translator makes otherwise; to be asked before the end. */
  countDifferences(): number {
    this.#commit()
    const { count } = this.#database
      .prepare(`SELECT count(*) AS count FROM (${VIEWS['translation_differs']})`)
      .get() as {
      count: number
    }
    return count
  }

  /** Leaves nothing behind. */
  discard(): void {
    this.#database.close()
    rmSync(unfinishedName(this.#path), { force: true })
  }

  #commit(): void {
    if (this.#uncommitted > 0) this.#database.exec('COMMIT')
    this.#uncommitted = 0
  }
}

const unfinishedName = (path: string): string => `${path}.unfinished`
