// @ts-check
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError, cacheDir, findOnPath, isExecutable, versionOutput } from './system.mjs'
import { compareVersions, isAtLeast, parseVersion } from './versions.mjs'

/** The oldest nats-server that has what the log needs: per-message TTL and several filters per consumer. */
export const oldestNatsServer = '2.11.0'

const cache = join(cacheDir, 'nats-server')

/**
 * Where a fetched nats-server of a version is kept.
 *
 * @param {string} version
 */
export function cachedNatsServer(version) {
  return join(cache, version, 'nats-server')
}

/**
 * The nats-server to use: `$NATS_SERVER_BIN`, else one on PATH that is new enough, else the newest fetched before.
 * Undefined when there is none.
 *
 * @param {Record<string, string | undefined>} [env]
 * @throws {SetupError} when `$NATS_SERVER_BIN` is set to something that does not serve
 */
export function findNatsServer(env = process.env) {
  const chosen = env['NATS_SERVER_BIN']
  if (chosen !== undefined && chosen !== '') {
    const version = natsServerVersion(chosen)
    if (version === undefined) throw new SetupError(`NATS_SERVER_BIN is ${chosen}, which does not run as a nats-server`)
    if (!isAtLeast(version, oldestNatsServer))
      throw new SetupError(`NATS_SERVER_BIN is nats-server ${version}; ${oldestNatsServer} or newer is needed`)
    return { path: chosen, version }
  }
  for (const path of findOnPath('nats-server', env)) {
    const version = natsServerVersion(path)
    if (version !== undefined && isAtLeast(version, oldestNatsServer)) return { path, version }
  }
  return cachedVersions()
    .map((version) => ({ path: cachedNatsServer(version), version }))
    .find(({ path }) => isExecutable(path))
}

/** The version a nats-server binary reports, or undefined when it does not run. */
export function natsServerVersion(/** @type {string} */ path) {
  const output = versionOutput(path)
  return output?.includes('nats-server') === true ? parseVersion(output)?.join('.') : undefined
}

/** Newest first. A cached version was checked when it was fetched. */
function cachedVersions() {
  try {
    const usable = readdirSync(cache).filter((name) => /^\d/.test(name) && isAtLeast(name, oldestNatsServer))
    return usable.sort((a, b) => compareVersions(b, a))
  } catch {
    return []
  }
}
