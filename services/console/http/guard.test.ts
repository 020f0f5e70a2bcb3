import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { refuseOtherSites, requireOperator } from './guard.ts'

const TOKEN = 'an-operator-token'
const asked = (headers: Record<string, string>): IncomingMessage => ({ headers }) as unknown as IncomingMessage

test.each([
  ['by its address', { host: '127.0.0.1:8080' }],
  ['by its address of the newer kind', { host: '[::1]:8080' }],
  ['by its name', { host: 'localhost:8080' }],
  ['by a browser that has it open', { host: 'localhost:8080', 'sec-fetch-site': 'same-origin' }],
])('a console may be asked %s', (_title, headers) => {
  expect(() => refuseOtherSites(asked(headers), [])).not.toThrow()
})

test.each([
  ['under a name of its own that leads here', { host: 'evil.example:8080' }, /no name of this console/],
  ['from its page', { host: '127.0.0.1:8080', 'sec-fetch-site': 'cross-site' }, /another site/],
  ['from a neighbour', { host: '127.0.0.1:8080', 'sec-fetch-site': 'same-site' }, /another site/],
])('another site may not have it asked %s', (_title, headers, words) => {
  expect(() => refuseOtherSites(asked(headers), [])).toThrow(words)
})

test('it takes the names that it is given', () => {
  expect(() => refuseOtherSites(asked({ host: 'console.example' }), ['console.example'])).not.toThrow()
})

test('only the right token makes an operator, and none where there is no token', () => {
  expect(() => requireOperator(asked({ authorization: `Bearer ${TOKEN}` }), TOKEN)).not.toThrow()
  for (const authorization of ['', 'Bearer ', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`])
    expect(() => requireOperator(asked({ authorization }), TOKEN)).toThrow(/token/)
  expect(() => requireOperator(asked({ authorization: 'Bearer undefined' }), undefined)).toThrow(/only shows/)
})
