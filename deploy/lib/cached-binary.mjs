// @ts-check
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isExecutable } from './system.mjs'

/**
 * Puts a binary into the cache in one step: whoever looks sees all of it or nothing, also when two do it at once.
 *
 * @param {string} source
 * @param {string} target its folder appears with it
 */
export function storeBinary(source, target) {
  const folder = dirname(target)
  mkdirSync(dirname(folder), { recursive: true })
  const staging = mkdtempSync(join(dirname(folder), '.new-'))
  try {
    const staged = join(staging, target.slice(folder.length + 1))
    copyFileSync(source, staged)
    chmodSync(staged, 0o755)
    chmodSync(staging, 0o755)
    if (!isExecutable(target)) {
      rmSync(folder, { recursive: true, force: true })
      renameSync(staging, folder)
    }
  } catch (error) {
    if (!isExecutable(target)) throw error
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}
