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
    throw new CausewayError(`projection ${path} cannot be made: check that the folder can be written and has room`, {
      code: 'ProjectionUnavailable',
      cause: error,
    })
  }
}

function openExisting(path: string): Database | undefined {
  let database: Database | undefined
  try {
    database = configure(new Sqlite(path))
    if (database.pragma('user_version', { simple: true }) === SCHEMA_VERSION) return database
  } catch (error) {
    if ((error as { code?: string }).code === 'SQLITE_BUSY') throw error
  }
  database?.close()
  return undefined
}

function configure(database: Database): Database {
  database.pragma('journal_mode = WAL')
  // A lost tail is folded again from the log, so commits need not wait for the disk.
  database.pragma('synchronous = NORMAL')
  return database
}
