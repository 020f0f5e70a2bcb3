import { expect, test } from 'vitest'
import { matchesSelector } from './match-selector.ts'

const labels = { app: 'web', tier: 'gold' }
const term = (operator: string, key: string, values?: string[]) => ({ matchExpressions: [{ key, operator, values }] })

test.each<[unknown, boolean]>([
  [undefined, true],
  [{}, true],
  [{ matchLabels: { app: 'web' } }, true],
  [{ matchLabels: { app: 'web', tier: 'iron' } }, false],
  [{ matchLabels: { constructor: 'x' } }, false],
  [term('In', 'tier', ['gold', 'iron']), true],
  [term('In', 'none', ['gold']), false],
  [term('NotIn', 'tier', ['gold']), false],
  [term('NotIn', 'none', ['gold']), true],
  [term('Exists', 'app'), true],
  [term('Exists', 'none'), false],
  [term('DoesNotExist', 'none'), true],
  [term('DoesNotExist', 'app'), false],
  [term('Near', 'app'), false],
])('a selector %j matches the labels: %s', (selector, expected) => {
  expect(matchesSelector(labels, selector)).toBe(expected)
})
