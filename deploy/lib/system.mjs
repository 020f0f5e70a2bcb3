// @ts-check
import { execFile, execFileSync } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the project. */
export const projectRoot = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Where what was fetched is kept: beside the code and out of version control. */
export const cacheDir = join(projectRoot, '.cache')

/** A failure that its message explains in full; shown without a stack. */
export class SetupError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message)
    this.name = 'SetupError'
  }
}

/** @param {string} path */
export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/**
 * All executables of that name on PATH, in its order.
 *
 * @param {string} name
 * @param {Record<string, string | undefined>} env
 */
export function findOnPath(name, env) {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return [...new Set(folders)].map((folder) => join(folder, name)).filter(isExecutable)
}

/**
 * What a program prints when asked for its version, or undefined when it does not run.
 *
 * @param {string} binary
 * @param {readonly string[]} args
 */
export function versionOutput(binary, args = ['--version']) {
  try {
    return execFileSync(binary, args, { encoding: 'utf8', timeout: 10_000, stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}

/**
 * Runs a program to its end; rejects with what it printed when it fails.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string | undefined>, timeoutMs?: number }} [options]
 * @returns {Promise<string>} what it printed on stdout
 */
export function run(command, args, options = {}) {
  const { cwd, env, timeoutMs = 300_000 } = options
  const settings = { encoding: /** @type {const} */ ('utf8'), timeout: timeoutMs, maxBuffer: 64 << 20, cwd, env }
  return new Promise((resolve, reject) => {
    execFile(command, args, settings, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else
        reject(new SetupError(`${command} ${args[0] ?? ''} failed: ${stderr.trim() || stdout.trim() || error.message}`))
    })
  })
}
