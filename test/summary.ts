export type StageCount = { passed: number; failed: number; skipped: number }

/** What of vitest's JSON report is read. */
type Report = {
  numPassedTests?: number
  numFailedTests?: number
  numPendingTests?: number
  numTodoTests?: number
  testResults?: { status?: string; assertionResults?: unknown[] }[]
}

/**
 * Counts a stage. A file that could not be loaded has no tests to fail, an error outside of any test fails none, and a
 * runner that crashed leaves no report: each counts as one failure, so that none passes unseen.
 */
export function countStage(report: unknown, exitCode: number): StageCount {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = (report ?? {}) as Report
  const broken = (testResults ?? []).filter(
    (file) => file.status === 'failed' && (file.assertionResults ?? []).length === 0,
  )
  const count = {
    passed: numPassedTests ?? 0,
    failed: (numFailedTests ?? 0) + broken.length,
    skipped: (numPendingTests ?? 0) + (numTodoTests ?? 0),
  }
  return exitCode !== 0 && count.failed === 0 ? { ...count, failed: 1 } : count
}

export function addCounts(a: StageCount, b: StageCount): StageCount {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped }
}

export function summaryLine({ passed, failed, skipped }: StageCount): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
