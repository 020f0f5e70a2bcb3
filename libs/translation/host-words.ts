/** What stands for a name of the host that a tenant must not be told. */
export const HIDDEN = '(hidden)'
/** The same while a text is being worked on: no text has it. */
const MARK = '\u0000'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Characters; whatever is longer names nothing. */
const LONGEST_NAME = 253

export type HostWords = {
  /** What words of the host are to the tenant. */
  names: ReadonlyMap<string, string>
  /** The tenant's name. */
  tenant: string
  /** Whether a word names something else that the tenant does not see. */
  isHidden: (word: string) => boolean
}

/**
 * A text with the host's names replaced by the tenant's, where they are known or can be read; names of other copies, of
 * whatever tenant, and uids that are not the tenant's are hidden, with the namespace before them. The time that it takes
 * grows with the text's length and no faster: texts come from anybody.
 */
export function withoutHostNames(text: string, { names, tenant, isHidden }: HostWords): string {
  const own = new Set(names.values())
  const known = (word: string): string | undefined =>
    names.get(word) ?? (own.has(word) ? word : (readable(word, tenant)?.name ?? derived(word, names)))
  const marked = text
    .replaceAll(MARK, '')
    // One host namespace may stand for many: the copy's name says which.
    .replace(/("?)(?<![-.a-z0-9])[-.a-z0-9]+\1\/\1([-a-z0-9]+)/g, (pair, quote: string, word: string) => {
      const ref = names.has(word) ? undefined : readable(word, tenant)
      return ref?.namespace === undefined ? pair : `${quote}${ref.namespace}${quote}/${quote}${ref.name}`
    })
    .replace(/[-.a-z0-9]+/g, (word) => {
      // A full stop may end the sentence.
      const bare = withoutFullStops(word)
      if (bare.length > LONGEST_NAME) return word
      const told = known(bare)
      if (told === undefined && !isOfTheHost(bare) && !isHidden(bare)) return word
      return (told ?? MARK) + word.slice(bare.length)
    })
  // eslint-disable-next-line no-control-regex
  return marked.replace(/("?)(?<![-.\w])[-.\w]+\1\/\1\u0000/g, `$1${MARK}`).replaceAll(MARK, HIDDEN)
}

function withoutFullStops(word: string): string {
  let end = word.length
  while (word[end - 1] === '.') end--
  return word.slice(0, end)
}

/** What a plain host name of this tenant says. */
function readable(word: string, tenant: string): { namespace?: string; name: string } | undefined {
  const [name = '', namespace, ...more] = word.split('-x-')
  if (more.length === 1 && more[0] === tenant && namespace !== undefined) return { namespace, name }
  if (more.length > 0 || namespace !== tenant || !name.startsWith('causeway-')) return undefined
  return { name: name.slice('causeway-'.length) }
}

/** The name of something that a controller has made for a copy, as it would make it for the original. */
function derived(word: string, names: ReadonlyMap<string, string>): string | undefined {
  for (const [host, own] of names) {
    if (isOfTheHost(host) && word.startsWith(`${host}-`)) return own + word.slice(host.length)
  }
  return undefined
}

/** Whether a word has the form of a copy's name or of a uid. */
function isOfTheHost(word: string): boolean {
  const isCopy = /.-x-.+-x-./.test(word) || /^causeway-.+-x-./.test(word)
  const isHashed = word.length === 63 && /-[0-9a-f]{10}$/.test(word)
  return isCopy || isHashed || UUID.test(word)
}
