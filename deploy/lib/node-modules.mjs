// @ts-check
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from './lock.mjs'
import { SetupError, cacheDir, projectRoot, versionOutput } from './system.mjs'
import { isAtLeast } from './versions.mjs'

/** The first Node that runs TypeScript as it is, without a flag or a warning. */
const oldestNode = '24.12.0'

const nodeBinary = join(projectRoot, 'node_modules', '.bin', 'node')

/**
 * Installs the packages of package-lock.json unless they are there, with the Node that comes as one of them.
 *
 * @param {(line: string) => void} log
 * @throws {SetupError} when npm fails or its Node does not serve
 */
export async function ensureNodeModules(log) {
  if (isReady()) return
  const lock = join(cacheDir, 'npm.lock')
  await withLock(
    lock,
    () => install(log),
    () => log('waiting for another set-up that is installing packages'),
  )
}

/** @param {(line: string) => void} log */
async function install(log) {
  if (!arePackagesInstalled()) {
    log('installing npm packages (npm ci)')
    await npm(['ci', '--no-audit', '--no-fund', '--include=dev', '--loglevel=error'])
  }
  // Installed without its install script, the package has no binary yet.
  if (nodeVersion() === undefined) await npm(['rebuild', 'node', '--ignore-scripts=false', '--loglevel=error'])
  const version = nodeVersion()
  if (version === undefined)
    throw new SetupError(`${nodeBinary} does not run. Remove node_modules and try again; npm must run install scripts.`)
  if (!isAtLeast(version, oldestNode))
    throw new SetupError(`node_modules holds Node ${version}; ${oldestNode} or newer is needed. Remove node_modules.`)
}

function isReady() {
  return arePackagesInstalled() && isAtLeast(nodeVersion() ?? '', oldestNode)
}

function nodeVersion() {
  return existsSync(nodeBinary) ? versionOutput(nodeBinary) : undefined
}

/** npm writes what it installed to a lock file of its own when it is done; it must agree with ours. */
function arePackagesInstalled() {
  const wanted = readPackages(join(projectRoot, 'package-lock.json'))
  const installed = readPackages(join(projectRoot, 'node_modules', '.package-lock.json'))
  if (wanted === undefined)
    throw new SetupError('package-lock.json is missing or broken; restore it from the repository')
  return installed !== undefined && isInstalled(wanted, installed)
}

/**
 * Whether every package that is wanted on each platform is installed in the version wanted.
 *
 * @param {Record<string, LockedPackage>} wanted
 * @param {Record<string, LockedPackage>} installed
 */
export function isInstalled(wanted, installed) {
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true
    const there = installed[path]
    if (there === undefined) return entry.optional === true || entry.devOptional === true || entry.peer === true
    return there.version === entry.version && there.integrity === entry.integrity
  })
}

/** @typedef {{ version?: string, integrity?: string, optional?: boolean, devOptional?: boolean, peer?: boolean }} LockedPackage */

/** @param {string} file @returns {Record<string, LockedPackage> | undefined} */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return undefined
  }
}

/** Runs the npm this was started by, else the one on PATH; what it prints goes to the terminal. */
async function npm(/** @type {string[]} */ args) {
  const script = process.env['npm_execpath']
  const [command, first] = script?.endsWith('.js') === true ? [process.execPath, [script]] : ['npm', []]
  const child = spawn(command, [...first, ...args], { cwd: projectRoot, stdio: ['ignore', 'inherit', 'inherit'] })
  const code = await new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new SetupError(`npm could not be started: ${error.message}`)))
    child.once('close', resolve)
  })
  if (code !== 0) throw new SetupError(`npm ${args[0]} failed (exit code ${code}); its messages are above`)
}
