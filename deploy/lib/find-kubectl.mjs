// @ts-check
import { join } from 'node:path'
import { storeBinary } from './cached-binary.mjs'
import { withDebianPackage } from './debian-package.mjs'
import { withLock } from './lock.mjs'
import { SetupError, cacheDir, findOnPath, isExecutable, versionOutput } from './system.mjs'

const cached = join(cacheDir, 'kubectl', 'bin', 'kubectl')

/**
 * The kubectl that tests talk to API servers with: `$KUBECTL_BIN`, else PATH, else fetched before, else fetched now
 * with apt. Undefined where it cannot be had: nothing but tests needs it.
 *
 * @param {{ env?: Record<string, string | undefined>, fetch?: boolean, log?: (line: string) => void }} [options]
 * @returns {Promise<string | undefined>}
 */
export async function findKubectl(options = {}) {
  const { env = process.env, fetch = true, log = () => {} } = options
  const candidates = [env['KUBECTL_BIN'] ?? '', ...findOnPath('kubectl', env), cached]
  const found = candidates.find((path) => isExecutable(path) && kubectlRuns(path))
  if (found !== undefined || !fetch) return found
  return withLock(join(cacheDir, 'kubectl.lock'), async () => {
    if (isExecutable(cached)) return cached
    log('no kubectl here; fetching one with apt for the tests (nothing is installed)')
    try {
      return await withDebianPackage('kubectl', (unpacked) => {
        const binary = join(unpacked, 'usr/bin/kubectl')
        if (!kubectlRuns(binary)) throw new SetupError('the packaged kubectl does not run on this system')
        storeBinary(binary, cached)
        return cached
      })
    } catch (error) {
      if (!(error instanceof SetupError)) throw error
      log(`kubectl could not be fetched: ${error.message}`)
      return undefined
    }
  })
}

/** @param {string} path */
function kubectlRuns(path) {
  return versionOutput(path, ['version', '--client']) !== undefined
}
