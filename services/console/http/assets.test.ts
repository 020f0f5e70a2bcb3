import { expect, test } from 'vitest'
import { loadAssets, toScript } from './assets.ts'

test('types go, lines stay, and imports lead to where the modules are served', () => {
  const source = [
    "import type { A } from './a.ts'",
    "import { type B, b } from './b.ts'",
    "import { html } from 'lit-html'",
    'import {',
    '  ref,',
    "} from 'lit-html/directives/ref.js'",
    'export const x: number = b(html, ref)',
  ].join('\n')
  const { text, vendor } = toScript(source)
  expect(text.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
    '',
    "import { b } from './b.js'",
    "import { html } from '/vendor/lit-html/lit-html.js'",
    'import {',
    ' ref,',
    "} from '/vendor/lit-html/directives/ref.js'",
    'export const x = b(html, ref)',
  ])
  expect(vendor).toEqual(['lit-html.js', 'directives/ref.js'])
})

test('every module that is imported is served', () => {
  const assets = loadAssets()
  const missing = [...assets].flatMap(([path, { type, body }]) => {
    if (!type.startsWith('text/javascript')) return []
    const from = body.toString().matchAll(/^(?:import|export|\}).*? from ?['"]([^'"]+)['"]/gm)
    return [...from].map(([, to = '']) => new URL(to, `http://console${path}`).pathname).filter((to) => !assets.has(to))
  })
  expect(missing).toEqual([])
  expect(assets.has('/')).toBe(true)
})

test('the page holds no script and no style of its own, and nothing from elsewhere', () => {
  const page = loadAssets().get('/')?.body.toString() ?? ''
  expect(page).not.toMatch(/<script(?![^>]* src="\/)/)
  expect(page).not.toMatch(/<style| style=|https?:/)
})

test('all that it loads is small', () => {
  const bytes = [...loadAssets().values()].reduce((sum, { gzipped }) => sum + gzipped.length, 0)
  expect(bytes).toBeLessThan(100_000)
})
