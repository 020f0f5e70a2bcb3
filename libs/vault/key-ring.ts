import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError, errorMessage } from '#libs/kernel'

/** Keys by id. New values are sealed under `active`; the others still open what was sealed before a rotation. */
export type KeyRing = { active: string; keys: ReadonlyMap<string, Buffer> }

const KEY_BYTES = 32

/**
 * Reads a key ring: `{"active":"<id>","keys":{"<id>":"<base64 of 32 bytes>"}}`.
 * @throws ConfigError naming the file and the field
 */
export function loadKeyRing(path: string): KeyRing {
  let parsed: { active?: unknown; keys?: Record<string, unknown> }
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8')) as typeof parsed
  } catch (error) {
    throw new ConfigError([`key ring ${path}: ${errorMessage(error)}`], { cause: error })
  }
  const problems: string[] = []
  const keys = new Map<string, Buffer>()
  for (const [id, text] of Object.entries(parsed.keys ?? {})) {
    const key = Buffer.from(String(text), 'base64')
    if (!/^[a-z0-9-]{1,32}$/.test(id)) problems.push(`key ring ${path}: keys: "${id}" is not an id of [a-z0-9-]{1,32}`)
    else if (key.length !== KEY_BYTES)
      problems.push(`key ring ${path}: keys.${id}: must be ${KEY_BYTES} bytes in base64`)
    else keys.set(id, key)
  }
  if (typeof parsed.active !== 'string' || !keys.has(parsed.active)) {
    problems.push(`key ring ${path}: active: must name one of keys`)
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return { active: String(parsed.active), keys }
}

/** Reads the key ring, or makes one with a single random key, readable by its owner alone. */
export function loadOrCreateKeyRing(path: string): KeyRing {
  try {
    return loadKeyRing(path)
  } catch (error) {
    const cause = error instanceof ConfigError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined
    if (cause?.code !== 'ENOENT') throw error
  }
  mkdirSync(dirname(path), { recursive: true })
  const ring = { active: 'k1', keys: { k1: randomBytes(KEY_BYTES).toString('base64') } }
  // Written aside and linked: a crash leaves no half ring behind, and of several processes that start together one
  // makes the ring and the others use it. Without either, what was sealed could not be read again.
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, `${JSON.stringify(ring)}\n`, { mode: 0o600 })
  try {
    linkSync(temporary, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(temporary)
  }
  return loadKeyRing(path)
}
