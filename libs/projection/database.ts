import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import { CausewayError } from '#libs/kernel'
import { SCHEMA, SCHEMA_VERSION } from './schema.ts'

/** An open SQLite file. */
export type Database = Sqlite.Database

/**
 * Opens a projection's file, or makes it. A file of another schema version or one that is damaged is set aside as
 * `<path>.old`: the log holds all that was in it, so it is built again.
 * @throws CausewayError `ProjectionUnavailable` naming the file, when it can be neither opened nor made
 */
export function openDatabase(path: string): { database: Database; fresh: boolean } {
  mkdirSync(dirname(path), { recursive: true })
  if (existsSync(path)) {
    const existing = openExisting(path)
    if (existing !== undefined) return { database: existing, fresh: false }
    rmSync(`${path}-wal`, { force: true })
    rmSync(`${path}-shm`, { force: true })
    renameSync(path, `${path}.old`)
  }
  try {
    const database = configure(new Sqlite(path))
    database.exec(SCHEMA)
    database.pragma(`user_version = ${SCHEMA_VERSION}`)
    return { database, fresh: true }
  } catch (error) {
    throw unavailable(path, error)
  }
}

function unavailable(path: string, cause: unknown): CausewayError {
  return new CausewayError(
    `projection ${path} cannot be opened or made: check that the folder can be written, has room, and that no other ` +
      'process uses the file',
    { code: 'ProjectionUnavailable', retry: 'backoff', cause },
  )
}

/** Whether an error says that the file itself is broken, so that it must be built again from the log. */
export function isDamaged(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^SQLITE_(CORRUPT|NOTADB)/.test(code)
}

/** Removes a projection's file: it is built again from the log at the next opening. */
export function removeDatabase(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true })
}

function openExisting(path: string): Database | undefined {
  let database: Database | undefined
  try {
    database = configure(new Sqlite(path))
    if (database.pragma('user_version', { simple: true }) === SCHEMA_VERSION) return database
  } catch (error) {
    database?.close()
    // Anything else, such as a file that another process holds, is no reason to throw away what is in it.
    if (!isDamaged(error)) throw unavailable(path, error)
    return undefined
  }
  database.close()
  return undefined
}

function configure(database: Database): Database {
  // Objects have a few kilobytes: in smaller pages most of each is in pages of its own, and reading takes a fifth longer.
  database.pragma('page_size = 16384')
  database.pragma('journal_mode = WAL')
  // A lost tail is folded again from the log, so commits need not wait for the disk.
  database.pragma('synchronous = NORMAL')
  return database
}
