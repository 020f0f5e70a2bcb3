import { expect, test } from 'vitest'
import { type FileReport, countStage, summaryLine, toRunAgain, withSecondRun } from './summary.ts'

const fileReport = (file: string, more: Partial<FileReport> = {}): FileReport => ({
  file,
  passed: 2,
  failed: [],
  skipped: 0,
  isBroken: (more.failed ?? []).length > 0,
  ...more,
})

test('counts passed, failed and skipped tests', () => {
  const files = [fileReport('a', { passed: 4, skipped: 3 }), fileReport('b', { passed: 1, failed: ['x'] })]
  expect(summaryLine(countStage({ files, unhandled: 0 }, 1))).toBe('5 passed, 1 failed, 3 skipped')
  expect(summaryLine({ passed: 5, failed: 0, skipped: 0 })).toBe('5 passed, 0 failed')
})

test('counts a file that could not be loaded as a failure', () => {
  const files = [fileReport('a', { passed: 0, isBroken: true }), fileReport('b', { passed: 1 })]
  expect(countStage({ files, unhandled: 0 }, 1)).toMatchObject({ passed: 1, failed: 1 })
})

test('counts a runner that crashed, or failed outside of any test, as a failure', () => {
  expect(countStage(undefined, -1)).toEqual({ passed: 0, failed: 1, skipped: 0 })
  expect(countStage({ files: [fileReport('a')], unhandled: 1 }, 1)).toEqual({ passed: 2, failed: 1, skipped: 0 })
  expect(countStage({ files: [fileReport('a')], unhandled: 0 }, 1)).toEqual({ passed: 2, failed: 1, skipped: 0 })
})

test('a few files that failed are run again; many, or errors that belong to no test, are not', () => {
  const broken = ['a', 'b', 'c', 'd'].map((file) => fileReport(file, { failed: ['x'] }))
  const fine = fileReport('e')
  expect(toRunAgain({ files: [...broken.slice(0, 2), fine], unhandled: 0 })).toEqual(['a', 'b'])
  expect(toRunAgain({ files: [...broken, fine], unhandled: 0 })).toEqual([])
  expect(toRunAgain({ files: [...broken.slice(0, 2), fine], unhandled: 1 })).toEqual([])
  expect(toRunAgain(undefined)).toEqual([])
})

test('what fails at first only is told as flaky, what fails again still counts', () => {
  const first = {
    files: [fileReport('a', { failed: ['x'] }), fileReport('b', { failed: ['y'] }), fileReport('c')],
    unhandled: 0,
  }
  const second = { files: [fileReport('a', { passed: 3 }), fileReport('b', { failed: ['y'] })], unhandled: 0 }
  const { report, flaky } = withSecondRun(first, second)
  expect(flaky).toEqual(['a: x'])
  expect(countStage(report, 1)).toEqual({ passed: 7, failed: 1, skipped: 0 })
})
