import { expect, test } from 'vitest'
import { countStage, summaryLine } from './summary.ts'

test('counts passed, failed and skipped tests', () => {
  const report = { numPassedTests: 5, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1, testResults: [] }
  expect(summaryLine(countStage(report, 1))).toBe('5 passed, 1 failed, 3 skipped')
  expect(summaryLine({ passed: 5, failed: 0, skipped: 0 })).toBe('5 passed, 0 failed')
})

test('counts a file that could not be loaded as a failure', () => {
  const testResults = [
    { status: 'failed', assertionResults: [] },
    { status: 'passed', assertionResults: [{}] },
  ]
  expect(countStage({ numPassedTests: 1, numFailedTests: 0, testResults }, 1)).toMatchObject({ passed: 1, failed: 1 })
})

test('counts a runner that crashed, or failed outside of any test, as a failure', () => {
  expect(countStage(undefined, -1)).toEqual({ passed: 0, failed: 1, skipped: 0 })
  expect(countStage({ numPassedTests: 3, testResults: [] }, 1)).toEqual({ passed: 3, failed: 1, skipped: 0 })
})
