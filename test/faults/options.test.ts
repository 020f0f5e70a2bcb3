import { expect, test } from 'vitest'
import { parseFaultsOptions } from './options.ts'

test('a run has the size of the long one unless told otherwise', () => {
  expect(parseFaultsOptions(['--minutes', '60'])).toMatchObject({ minutes: 60, tenants: 20, pods: 1_000 })
})

test.each([
  [['--seed', 'x'], '--seed: x is no whole number'],
  [['--faults', 'kill,flood'], '--faults: no flood'],
  [['--mode', 'both'], '--mode: use separate or one'],
])('%j is refused', (args, problem) => {
  expect(parseFaultsOptions(args)).toContain(problem)
})
