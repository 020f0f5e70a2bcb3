// @ts-check
/**
 * One repository of apt's sources.
 *
 * @typedef {object} AptSource
 * @property {string[]} types
 * @property {string[]} uris
 * @property {string[]} suites
 * @property {string[]} components
 * @property {string} [signedBy] key ring path, fingerprints or an embedded key; as written, with its line breaks
 */

const separator = /\s+/

/**
 * Reads the one-line format (`deb [options] uri suite component…`).
 *
 * @param {string} text
 * @returns {AptSource[]}
 */
export function parseListFormat(text) {
  const sources = []
  for (const line of text.split('\n')) {
    const match = /^\s*(deb|deb-src)\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)([^#]*)/.exec(line)
    if (match === null) continue
    const [, type = '', options = '', uri = '', suite = '', rest = ''] = match
    const signedBy = /(?:^|\s)signed-by=(\S+)/i.exec(options)?.[1]
    sources.push({
      types: [type],
      uris: [uri],
      suites: [suite],
      components: words(rest),
      ...(signedBy === undefined ? {} : { signedBy: signedBy.replaceAll(',', ' ') }),
    })
  }
  return sources
}

/**
 * Reads the deb822 format (`*.sources`): stanzas of `Field: value`, continued on indented lines.
 *
 * @param {string} text
 * @returns {AptSource[]}
 */
export function parseDeb822Format(text) {
  const lines = text.split('\n').filter((line) => !line.startsWith('#'))
  const stanzas = lines.join('\n').split(/\n[ \t]*\n/)
  return stanzas.map(parseStanza).filter((source) => source !== undefined)
}

/** @param {string} stanza @returns {AptSource | undefined} */
function parseStanza(stanza) {
  /** @type {Map<string, string>} */
  const fields = new Map()
  let name = ''
  for (const line of stanza.split('\n')) {
    const field = /^([A-Za-z][\w-]*):[ \t]*(.*)$/.exec(line)
    if (field !== null) {
      name = (field[1] ?? '').toLowerCase()
      fields.set(name, field[2] ?? '')
    } else if (/^[ \t]/.test(line) && name !== '') fields.set(name, `${fields.get(name)}\n${line}`)
  }
  const uris = words(fields.get('uris'))
  if (uris.length === 0 || /^\s*(no|false|0|off)\s*$/i.test(fields.get('enabled') ?? '')) return undefined
  const signedBy = fields.get('signed-by')
  return {
    types: words(fields.get('types')),
    uris,
    suites: words(fields.get('suites')),
    components: words(fields.get('components')),
    ...(signedBy === undefined || signedBy.trim() === '' ? {} : { signedBy }),
  }
}

/** @param {string | undefined} text */
function words(text) {
  return (text ?? '').split(separator).filter((word) => word !== '')
}

/**
 * The repositories among `sources` that hold the distribution itself, not its security updates or a third party: those
 * with binary packages of the running release (or of a name that moves with the releases).
 *
 * @param {readonly AptSource[]} sources
 * @param {string} codename the running release, as in os-release's VERSION_CODENAME
 * @returns {{ uri: string, components: string[], signedBy?: string }[]}
 */
export function distributionMirrors(sources, codename) {
  const releases = new Set([codename, 'stable', 'oldstable', 'testing', 'unstable', 'sid'])
  const mirrors = new Map()
  for (const source of sources) {
    if (!source.types.includes('deb') || !source.components.includes('main')) continue
    if (!source.suites.some((suite) => releases.has(suite))) continue
    for (const uri of source.uris) {
      const { components, signedBy } = source
      if (!mirrors.has(uri)) mirrors.set(uri, { uri, components, ...(signedBy === undefined ? {} : { signedBy }) })
    }
  }
  return [...mirrors.values()]
}
