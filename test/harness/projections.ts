import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import type { Installation } from './installation.ts'

/** Deletes what the translators remember, while they are down: they fill it again from the log. */
export function deleteProjections(up: Installation): void {
  for (const file of filesOf(up)) rmSync(file)
}

/** Writes that are under way, waited for or tried again, as `<resource> <slot> <state>`. */
export function pendingWrites(up: Installation, tenant: string): string[] {
  return filesOf(up)
    .filter((file) => file.endsWith('.sqlite'))
    .flatMap((file) => {
      const database = new Sqlite(file, { readonly: true })
      try {
        const rows = database.prepare<[string], { line: string }>(
          "SELECT resource || ' ' || slot || ' ' || state AS line FROM pending WHERE tenant = ?",
        )
        return rows.all(tenant).map(({ line }) => line)
      } finally {
        database.close()
      }
    })
}

function filesOf(up: Installation): string[] {
  const folder = join(up.data, 'services')
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes('projection-'))
    .map((name) => join(folder, name))
}
