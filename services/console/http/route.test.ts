import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Route, matchRoute, readQuery } from './route.ts'

const route: Route = {
  kind: 'answer',
  method: 'GET',
  path: '/api/v1/tenants/{tenant}',
  summary: 'one',
  answer: z.strictObject({}),
  query: {
    search: { type: 'text', description: 'part of the name', default: '' },
    order: { type: 'text', description: 'order', oneOf: ['name', 'state'], default: 'name' },
    limit: { type: 'whole', description: 'how many', default: 50, least: 1, most: 200 },
    at: { type: 'time', description: 'when' },
  },
  handle: () => Promise.resolve({}),
}

test('a path gives its parameters, decoded', () => {
  expect(matchRoute([route], 'GET', '/api/v1/tenants/a%2Fb').path).toEqual({ tenant: 'a/b' })
})

test.each([
  ['another path', 'GET', '/api/v1/tenant', 404],
  ['an empty parameter', 'GET', '/api/v1/tenants/', 404],
  ['another method', 'POST', '/api/v1/tenants/a', 405],
  ['what cannot be decoded', 'GET', '/api/v1/tenants/%E0%A4%A', 400],
])('%s is refused', (_title, method, path, status) => {
  expect(() => matchRoute([route], method, path)).toThrow(expect.objectContaining({ status }))
})

test('a query has the defaults of what it leaves out', () => {
  const query = readQuery(route, new URLSearchParams('search=web&limit='))
  expect([query.text('search'), query.text('order'), query.number('limit')]).toEqual(['web', 'name', 50])
  expect(query.text('at')).toBeUndefined()
  expect(readQuery(route, new URLSearchParams('at=5.25')).number('at')).toBe(5.25)
})

test.each([
  'limit=0',
  'limit=201',
  'limit=1e1',
  'at=-1',
  'at=1e3',
  'order=size',
  'other=1',
  `search=${'x'.repeat(301)}`,
])('the query %s is refused', (text) => {
  expect(() => readQuery(route, new URLSearchParams(text))).toThrow(expect.objectContaining({ status: 400 }))
})
