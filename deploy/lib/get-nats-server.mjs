// @ts-check
import { join } from 'node:path'
import { storeBinary } from './cached-binary.mjs'
import { withDebianPackage } from './debian-package.mjs'
import { cachedNatsServer, findNatsServer, natsServerVersion, oldestNatsServer } from './find-nats-server.mjs'
import { withLock } from './lock.mjs'
import { SetupError, cacheDir } from './system.mjs'
import { isAtLeast } from './versions.mjs'

/**
 * Finds nats-server, or fetches it into the cache where that can be done without installing anything.
 *
 * @param {(line: string) => void} log
 * @returns {Promise<{ path: string, version: string }>}
 * @throws {SetupError} that says how to get it
 */
export async function getNatsServer(log) {
  const found = findNatsServer()
  if (found !== undefined) return found
  const lock = join(cacheDir, 'nats-server.lock')
  return withLock(
    lock,
    async () => findNatsServer() ?? (await fetchNatsServer(log)),
    () => log('waiting for another set-up that is fetching nats-server'),
  )
}

/** @param {(line: string) => void} log */
async function fetchNatsServer(log) {
  log(`no nats-server ${oldestNatsServer} or newer here; fetching one with apt (about 15 MB, nothing is installed)`)
  try {
    return await withDebianPackage('nats-server', (unpacked, suite) => {
      const binary = join(unpacked, 'usr/sbin/nats-server')
      const version = natsServerVersion(binary)
      if (version === undefined) throw new SetupError('the packaged nats-server does not run on this system')
      if (!isAtLeast(version, oldestNatsServer)) throw new SetupError(`it has nats-server ${version}, which is too old`)
      const path = cachedNatsServer(version)
      storeBinary(binary, path)
      log(`nats-server ${version} (${suite}) is in .cache/nats-server`)
      return { path, version }
    })
  } catch (error) {
    if (error instanceof SetupError) throw new SetupError(`${howToGetIt}\n\nTried apt: ${error.message}`)
    throw error
  }
}

const howToGetIt = `nats-server ${oldestNatsServer} or newer is needed, and none was found.
  macOS    brew install nats-server
  Linux    your distribution's nats-server package if it is new enough, or the binary from the release
           archive of nats-io/nats-server (nats-server-v2.x-linux-amd64.tar.gz or -arm64), put on PATH
  Docker   docker create --name nats nats:2 && docker cp nats:/nats-server . && docker rm nats
then have it on PATH, or set NATS_SERVER_BIN to its path.`
