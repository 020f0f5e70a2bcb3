// @ts-check
import { mkdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { dirname } from 'node:path'

const heartbeatMs = 1_000
const staleMs = 15_000

/**
 * Runs `work` while no other process runs work under the same lock folder. The holder touches the folder each second;
 * one that has not been touched for 15 s belongs to a process that died, and is taken over. (A process id would not do:
 * two containers that share the folder number their processes apart.)
 *
 * @template T
 * @param {string} folder
 * @param {() => Promise<T>} work
 * @param {() => void} [onWait] called once when another process holds the lock
 * @returns {Promise<T>}
 */
export async function withLock(folder, work, onWait) {
  mkdirSync(dirname(folder), { recursive: true })
  for (let waited = false; !tryLock(folder); waited = true) {
    if (!waited) onWait?.()
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const heartbeat = setInterval(() => touch(folder), heartbeatMs)
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} folder */
function tryLock(folder) {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
  }
  const touched = statSync(folder, { throwIfNoEntry: false })?.mtimeMs
  if (touched !== undefined && Date.now() - touched > staleMs) rmSync(folder, { recursive: true, force: true })
  return false
}

/** @param {string} folder */
function touch(folder) {
  try {
    const now = new Date()
    utimesSync(folder, now, now)
  } catch {
    // Taken over while this process was stopped; the work itself is atomic, so a double run does no harm.
  }
}
