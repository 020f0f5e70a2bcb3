import { expect, test } from 'vitest'
import { differences } from './differences.ts'

test.each([
  ['a value that changes', { a: 1 }, { a: 2 }, [{ path: 'a', from: 1, to: 2 }]],
  ['a value that comes', {}, { a: { b: 1 } }, [{ path: 'a', to: { b: 1 } }]],
  ['a value that goes', { a: null }, {}, [{ path: 'a', from: null }]],
  [
    'a key that is no plain word',
    { l: { 'x/y': 'a' } },
    { l: { 'x/y': 'b' } },
    [{ path: 'l["x/y"]', from: 'a', to: 'b' }],
  ],
  ['no difference in the order of keys', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
  [
    'items of a list by their name, whatever their place',
    { c: [{ name: 'x', image: '1' }, { name: 'y' }] },
    { c: [{ name: 'y' }, { name: 'x', image: '2' }] },
    [{ path: 'c[name=x].image', from: '1', to: '2' }],
  ],
  ['plain items by their place', { f: ['a', 'b'] }, { f: ['a', 'c'] }, [{ path: 'f[1]', from: 'b', to: 'c' }]],
  [
    'items by place where two have the same name',
    {
      p: [
        { name: 'a', n: 1 },
        { name: 'a', n: 2 },
      ],
    },
    {
      p: [
        { name: 'a', n: 1 },
        { name: 'a', n: 3 },
      ],
    },
    [{ path: 'p[1].n', from: 2, to: 3 }],
  ],
  [
    'nothing of what every write changes',
    { metadata: { resourceVersion: '1' } },
    { metadata: { resourceVersion: '2' } },
    [],
  ],
])('names %s', (_title, from, to, expected) => {
  expect(differences(from, to)).toEqual(expected)
})

test('gives no more than people read', () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, index]))
  expect(differences({}, many)).toHaveLength(200)
})
