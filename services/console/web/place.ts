/** Views of the page. */
const VIEWS = ['fleet', 'tenant', 'objects', 'object', 'waiting', 'replay'] as const

export type ViewName = (typeof VIEWS)[number]

/** Where in the page one is, as its address says. */
export type Place = { view: ViewName; path: string[]; query: Record<string, string> }

/** The address of a place, to link to it. Parts of the query that are empty are left out. */
export function hrefOf(view: ViewName, path: readonly string[] = [], query: Record<string, string> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '')
  const search = new URLSearchParams(given).toString()
  return `#/${[view, ...path.map(encodeURIComponent)].join('/')}${search === '' ? '' : `?${search}`}`
}

/** The place that an address leads to: the fleet where it leads nowhere. */
export function parseHash(hash: string): Place {
  const [before = '', search = ''] = hash.replace(/^#\/?/, '').split('?')
  const [first, ...rest] = before.split('/')
  const view = VIEWS.find((each) => each === first)
  try {
    if (view !== undefined) {
      return { view, path: rest.map(decodeURIComponent), query: Object.fromEntries(new URLSearchParams(search)) }
    }
  } catch {
    // Not an address of ours.
  }
  return { view: 'fleet', path: [], query: {} }
}
