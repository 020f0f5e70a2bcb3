import { describe, expect, it } from 'vitest'

import { applyMergePatch } from './merge-patch.ts'

describe('applyMergePatch', () => {
  it.each([
    ['sets and removes fields', { a: 1, b: 2 }, { b: null, c: 3 }, { a: 1, c: 3 }],
    ['merges objects', { a: { x: 1, y: 2 } }, { a: { y: null, z: 3 } }, { a: { x: 1, z: 3 } }],
    ['replaces lists', { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ['drops nulls inside new objects', {}, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    ['replaces a scalar by an object', { a: 1 }, { a: { b: 2 } }, { a: { b: 2 } }],
    ['changes nothing when empty', { a: 1 }, {}, { a: 1 }],
  ])('%s', (_, document, patch, expected) => {
    expect(applyMergePatch(document, patch)).toEqual(expected)
  })

  it('refuses a list', () => {
    expect(() => applyMergePatch({}, [])).toThrow(
      'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    )
  })
})
