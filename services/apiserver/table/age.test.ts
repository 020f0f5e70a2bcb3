import { expect, it } from 'vitest'

import { ageOf, humanDuration } from './age.ts'

it.each([
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [190, '3m10s'],
  [600, '10m'],
  [3 * 3600, '3h'],
  [4 * 3600 + 60, '4h1m'],
  [9 * 3600, '9h'],
  [49 * 3600, '2d1h'],
  [10 * 86_400, '10d'],
  [800 * 86_400, '2y70d'],
  [-5, '<invalid>'],
])('shows %d seconds as %s', (seconds, expected) => {
  expect(humanDuration(seconds)).toBe(expected)
})

it('does not know the age of what has no time', () => {
  expect(ageOf(undefined, 0)).toBe('<unknown>')
})
