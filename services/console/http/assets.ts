import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** A file of the page as it is served. */
export type Asset = { type: string; body: Buffer; gzipped: Buffer; etag: string }

const WEB = join(import.meta.dirname, '..', 'web')
const PACKAGE = 'lit-html'
const VENDOR = `/vendor/${PACKAGE}`
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript; charset=utf-8',
}

/**
 * The page: its sources without their types, and the modules of its one package that they import. Made when the console
 * starts; nothing is built before that. See docs/adr/0014-console-without-a-build.md.
 */
export function loadAssets(): Map<string, Asset> {
  const assets = new Map<string, Asset>()
  const vendor = new Set<string>()
  for (const file of readdirSync(WEB, { recursive: true, encoding: 'utf8' })) {
    const ending = /\.(\w+)$/.exec(file)?.[1] ?? ''
    const text = (): string => readFileSync(join(WEB, file), 'utf8')
    if (ending === 'ts' && !file.endsWith('.test.ts')) {
      const script = toScript(text())
      for (const module of script.vendor) vendor.add(module)
      assets.set(`/${file.replace(/\.ts$/, '.js')}`, asset(script.text, 'js'))
    } else if (ending in TYPES && ending !== 'js')
      assets.set(file === 'index.html' ? '/' : `/${file}`, asset(text(), ending))
  }
  addVendor(assets, [...vendor])
  return assets
}

/** A source as browsers take it: types away, and imports by address. */
export function toScript(source: string): { text: string; vendor: string[] } {
  const vendor: string[] = []
  const stripped = withoutBlanks(strip(source))
  const text = stripped.replaceAll(
    /^((?:import|export|\})[^\n]*? from |import )'([^']+)'/gm,
    (_whole, before: string, from: string) => {
      if (from.startsWith('.')) return `${before}'${from.replace(/\.ts$/, '.js')}'`
      const module = from === PACKAGE ? 'lit-html.js' : from.slice(PACKAGE.length + 1)
      vendor.push(module)
      return `${before}'${VENDOR}/${module}'`
    },
  )
  return { text, vendor }
}

/** The same as Node does to our own sources, and what it warns of then: to whoever starts this it says nothing. */
function strip(source: string): string {
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = () => undefined
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}

/** What is left of types is white space; lines stay, so that errors name the right one. */
function withoutBlanks(text: string): string {
  return text.replaceAll(/[ \t]+$/gm, '')
}

/** The package's modules that are imported, and those that they import themselves. */
function addVendor(assets: Map<string, Asset>, modules: string[]): void {
  // The modules for browsers are in the package's own folder; those that this process would be given, below it.
  const entry = createRequire(import.meta.url).resolve(PACKAGE)
  const folder = entry.slice(0, entry.lastIndexOf(`/${PACKAGE}/`) + PACKAGE.length + 2)
  const waiting = modules
  for (let module = waiting.pop(); module !== undefined; module = waiting.pop()) {
    const path = `${VENDOR}/${module}`
    if (assets.has(path)) continue
    const text = readFileSync(join(folder, module), 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')
    assets.set(path, asset(text, 'js'))
    for (const [, to = ''] of text.matchAll(/from\s*"(\.[^"]+)"/g)) waiting.push(join(dirname(module), to))
  }
}

function asset(text: string, ending: string): Asset {
  const body = Buffer.from(text)
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  return { type: TYPES[ending] ?? 'application/octet-stream', body, gzipped: gzipSync(body), etag }
}
