import { describe, expect, test } from 'vitest'
import { formatNumber, table } from './table.ts'

describe('a table', () => {
  test('aligns text to the left and numbers to the right', () => {
    expect(
      table(
        ['stage', 'p50'],
        [
          ['decide', 0.25],
          ['watch to log', 12.34],
        ],
      ),
    ).toBe(
      ['| stage        |  p50 |', '|--------------|-----:|', '| decide       | 0.25 |', '| watch to log | 12.3 |'].join(
        '\n',
      ),
    )
  })

  test('shows a dash for what was not measured', () => {
    expect(table(['a', 'b'], [['x', undefined]])).toContain('| x | - |')
  })
})

test.each([
  [3, '3'],
  [0.1234, '0.12'],
  [12.345, '12.3'],
  [123.45, '123'],
])('%d is shown as %s', (value, text) => {
  expect(formatNumber(value)).toBe(text)
})
