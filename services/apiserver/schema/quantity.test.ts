import { describe, expect, it } from 'vitest'

import { canonicalQuantity, compareQuantities, parseQuantity } from './quantity.ts'

describe('canonicalQuantity', () => {
  it.each([
    ['0.5', '500m'],
    ['1024Mi', '1Gi'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['1.5Gi', '1536Mi'],
    ['512', '512'],
    ['1000', '1k'],
    ['100', '100'],
    ['0', '0'],
    ['1e3', '1e3'],
    ['1Ki', '1Ki'],
    ['0.5Ki', '512'],
    [4, '4'],
    ['lots', 'lots'],
  ])('writes %s as %s', (text, expected) => {
    expect(canonicalQuantity(text)).toBe(expected)
  })
})

describe('parseQuantity', () => {
  it.each(['', 'x', '1x', '1.2.3', '--1', 'Gi'])('finds no quantity in %j', (text) => {
    expect(parseQuantity(text)).toBeUndefined()
  })
})

describe('compareQuantities', () => {
  it.each([
    ['1', '1000m', 0],
    ['1Gi', '1G', 1],
    ['100m', '0.2', -1],
  ])('compares %s with %s', (a, b, expected) => {
    expect(compareQuantities(a, b)).toBe(expected)
  })
})
