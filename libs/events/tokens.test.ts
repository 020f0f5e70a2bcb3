import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeToken, encodeToken } from './tokens.ts'

test.each([
  ['web', 'web'],
  ['system:node:a', 'system:node:a'],
  ['a.b', 'a%2Eb'],
  ['*', '%2A'],
  ['>', '%3E'],
  ['100% a\tb', '100%25%20a%09b'],
  ['ü.x', 'ü%2Ex'],
  ['a\u00A0b', 'a%C2%A0b'],
])('%j is token %s', (name, token) => {
  expect(encodeToken(name)).toBe(token)
  expect(decodeToken(token)).toBe(name)
})

test('every name is one token that NATS takes, and comes back as it was', () => {
  const anything = fc.string({ unit: 'grapheme', minLength: 1 })
  const nasty = fc.array(fc.constantFrom('.', '*', '>', '%', ' ', '\n', '%2E', 'ü', '💥', 'a', '_'), { minLength: 1 })
  fc.assert(
    fc.property(
      fc.oneof(
        anything,
        nasty.map((parts) => parts.join('')),
      ),
      (name) => {
        const token = encodeToken(name)
        expect(token).not.toMatch(/[.*>\s\0]/u)
        expect(decodeToken(token)).toBe(name)
      },
    ),
  )
})

test('different names have different tokens', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (a, b) => {
      fc.pre(a !== b)
      expect(encodeToken(a)).not.toBe(encodeToken(b))
    }),
  )
})

test('refuses an empty name and a broken escape', () => {
  expect(() => encodeToken('')).toThrow(/cannot be empty/)
  expect(() => decodeToken('a%2')).toThrow(/broken escape/)
})
