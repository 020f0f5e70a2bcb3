import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson, cloneJson, jsonEqual } from './canonical-json.ts'

describe('canonical JSON', () => {
  test.each([
    ['sorts keys at every depth', { b: 1, a: { d: 2, c: 3 } }, '{"a":{"c":3,"d":2},"b":1}'],
    ['keeps the order of lists', [2, 1], '[2,1]'],
    ['leaves undefined fields out', { a: undefined, b: null }, '{"b":null}'],
    ['writes undefined items as null, as JSON does', [undefined, 1], '[null,1]'],
    ['escapes strings', 'a"\n', '"a\\"\\n"'],
  ])('%s', (_title, value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })

  test('is the same whatever order fields were added in, and reads back as the value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).toReversed())
        expect(canonicalJson(reversed)).toBe(canonicalJson(value))
        expect(jsonEqual(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value)))).toBe(true)
      }),
    )
  })
})

describe('equality of JSON', () => {
  test.each([
    ['numbers', 1, 1, true],
    ['a number and its text', 1, '1', false],
    ['null and an empty object', null, {}, false],
    ['a list and an object with the same keys', ['a'], { 0: 'a' }, false],
    ['lists of different length', [1], [1, 2], false],
    ['an absent and an undefined field', {}, { a: undefined }, true],
    ['an absent and a null field', {}, { a: null }, false],
    ['an absent field that objects inherit', {}, { constructor: 'x' }, false],
    ['the same the other way round', { toString: 'x' }, {}, false],
    ['nested values', { a: [{ b: 1 }] }, { a: [{ b: 1 }] }, true],
  ])('%s', (_title, a, b, equal) => {
    expect(jsonEqual(a, b)).toBe(equal)
    expect(jsonEqual(b, a)).toBe(equal)
  })

  test('agrees with canonical JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(jsonEqual(a, b)).toBe(canonicalJson(a) === canonicalJson(b))
      }),
    )
  })
})

describe('copies of JSON', () => {
  test('are equal and share nothing', () => {
    const value = { a: [{ b: 1 }], c: null }
    const copy = cloneJson(value)
    expect(copy).toEqual(value)
    expect(copy.a).not.toBe(value.a)
    expect(copy.a[0]).not.toBe(value.a[0])
  })

  test('keep keys that mean something to JavaScript', () => {
    const value = JSON.parse('{"data":{"__proto__":"kept","constructor":"too"}}') as object
    expect(JSON.stringify(cloneJson(value))).toBe(JSON.stringify(value))
  })
})
