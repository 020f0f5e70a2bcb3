// @ts-check
import { chownSync, chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { distributionMirrors, parseDeb822Format, parseListFormat } from './apt-sources.mjs'
import { SetupError, findOnPath, run } from './system.mjs'

const aptFolder = '/etc/apt'

/** Newer suites by distribution, the more settled first. */
const newerSuites = { debian: ['forky', 'sid'], ubuntu: ['devel'] }

/**
 * Unpacks a package of a newer suite of this machine's distribution, with apt but without a trace in the system: own
 * source, lists and cache in a temporary folder, nothing installed. The mirror, its key ring and any proxy are the
 * machine's. apt checks the package against the signed index, and refuses it when the signature does not verify.
 *
 * @template T
 * @param {string} packageName
 * @param {(unpacked: string, suite: string) => T} use gets the folder with the package's files, removed afterwards;
 *   throws a SetupError to have the next suite tried
 * @returns {Promise<T>} what `use` returned
 * @throws {SetupError} when this machine has no apt, no mirror, or no suite that serves
 */
export async function withDebianPackage(packageName, use) {
  for (const tool of ['apt-get', 'dpkg-deb', 'dpkg'])
    if (findOnPath(tool, process.env).length === 0) throw new SetupError(`this system has no ${tool}`)
  const { suites, codename } = readDistribution()
  const mirrors = distributionMirrors(readAptSources(), codename)
  if (mirrors.length === 0) throw new SetupError(`apt's sources name no mirror of ${codename || 'this distribution'}`)
  const failures = []
  for (const suite of suites) {
    for (const mirror of mirrors) {
      const folder = mkdtempSync(join(tmpdir(), 'causeway-apt-'))
      try {
        return use(await unpack(packageName, { suite, mirror, folder }), suite)
      } catch (error) {
        if (!(error instanceof SetupError)) throw error
        failures.push(`${suite}: ${error.message}`)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }
  }
  throw new SetupError(failures.join('\n'))
}

/** @returns {{ suites: string[], codename: string }} */
function readDistribution() {
  const release = readFileSync('/etc/os-release', 'utf8')
  const field = (/** @type {string} */ name) =>
    new RegExp(`^${name}="?([^"\\n]*)"?$`, 'm').exec(release)?.[1]?.trim() ?? ''
  const families = [field('ID'), ...field('ID_LIKE').split(' ')]
  const ubuntu = families.includes('ubuntu')
  const codename = (ubuntu && field('UBUNTU_CODENAME')) || field('DEBIAN_CODENAME') || field('VERSION_CODENAME')
  return { suites: ubuntu ? newerSuites.ubuntu : newerSuites.debian, codename }
}

function readAptSources() {
  const parts = join(aptFolder, 'sources.list.d')
  const files = [join(aptFolder, 'sources.list'), ...listFolder(parts).map((name) => join(parts, name))]
  return files.flatMap((file) => {
    if (file.endsWith('.sources')) return parseDeb822Format(readText(file))
    return file.endsWith('.list') ? parseListFormat(readText(file)) : []
  })
}

/** @param {string} folder */
function listFolder(folder) {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

/** @param {string} file */
function readText(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/**
 * @param {string} packageName
 * @param {{ suite: string, folder: string, mirror: { uri: string, components: string[], signedBy?: string } }} options
 * @returns {Promise<string>} the folder it was unpacked to
 */
async function unpack(packageName, { suite, mirror, folder }) {
  const architecture = (await run('dpkg', ['--print-architecture'])).trim()
  const apt = await writeAptConfig(folder, { suite, mirror, architecture })
  await run('apt-get', ['-q', 'update', '-c', apt.config])
  await run('apt-get', ['-q', 'download', packageName, '-c', apt.config], { cwd: apt.downloads })
  const file = readdirSync(apt.downloads).find((name) => name.endsWith('.deb'))
  if (file === undefined) throw new SetupError(`apt-get download left no ${packageName}`)
  const unpacked = join(folder, 'unpacked')
  await run('dpkg-deb', ['-x', join(apt.downloads, file), unpacked])
  return unpacked
}

/**
 * @param {string} folder
 * @param {{ suite: string, architecture: string, mirror: { uri: string, components: string[], signedBy?: string } }} source
 */
async function writeAptConfig(folder, { suite, architecture, mirror }) {
  const downloads = join(folder, 'downloads')
  for (const path of ['lists/partial', 'cache/archives/partial', 'preferences', 'downloads'])
    mkdirSync(join(folder, path), { recursive: true })
  const sources = join(folder, 'causeway.sources')
  const stanza = [
    'Types: deb',
    `URIs: ${mirror.uri}`,
    `Suites: ${suite}`,
    `Components: ${mirror.components.includes('universe') ? 'main universe' : 'main'}`,
    `Architectures: ${architecture}`,
    'Targets: Packages',
    ...(mirror.signedBy === undefined ? [] : [`Signed-By: ${mirror.signedBy}`]),
  ]
  writeFileSync(sources, `${stanza.join('\n')}\n`)
  // What is installed does not count: it would hide the package when it is newer.
  const status = join(folder, 'status')
  writeFileSync(status, '')
  const config = join(folder, 'apt.conf')
  const settings = [
    // The machine's hooks are for its own package database.
    '#clear APT::Update::Post-Invoke;',
    '#clear APT::Update::Post-Invoke-Success;',
    '#clear DPkg::Post-Invoke;',
    `Dir::Etc::SourceList "${sources}";`,
    'Dir::Etc::SourceParts "-";',
    'Dir::Etc::Preferences "/dev/null";',
    `Dir::Etc::PreferencesParts "${join(folder, 'preferences')}";`,
    `Dir::State::Status "${status}";`,
    `Dir::State::Lists "${join(folder, 'lists')}";`,
    `Dir::Cache "${join(folder, 'cache')}";`,
    'Acquire::Languages "none";',
    'Acquire::Retries "3";',
    // A mirror that does not verify must be an error here, whatever the machine allows.
    'APT::Get::AllowUnauthenticated "false";',
    'Acquire::AllowInsecureRepositories "false";',
    'Acquire::AllowWeakRepositories "false";',
    // Without this, update reports success when an index could not be fetched or verified.
    'APT::Update::Error-Mode "any";',
  ]
  writeFileSync(config, `${settings.join('\n')}\n`)
  // As root, apt downloads as a user of its own, who must reach these folders.
  if (process.getuid?.() === 0) {
    const uid = Number((await run('id', ['-u', '_apt']).catch(() => '0')).trim())
    chmodSync(folder, 0o755)
    chownSync(downloads, uid, 0)
  }
  return { config, downloads }
}
