export type StageCount = { passed: number; failed: number; skipped: number }

/** What became of the tests of one file. */
export type FileReport = {
  /** From the project's root. */
  file: string
  passed: number
  /** The names of the tests that failed. */
  failed: string[]
  skipped: number
  /** Whether anything in it failed: a test, a hook, or loading it. */
  isBroken: boolean
}

/** What became of one run of a stage. */
export type StageReport = {
  files: FileReport[]
  /** Errors outside of any test. */
  unhandled: number
}

/**
 * Counts a stage. A file that could not be loaded has no tests to fail, an error outside of any test fails none, and a
 * runner that crashed leaves no report: each counts as one failure, so that none passes unseen.
 */
export function countStage(report: StageReport | undefined, exitCode: number): StageCount {
  const { files, unhandled } = report ?? { files: [], unhandled: 0 }
  const count = { passed: 0, failed: 0, skipped: 0 }
  for (const file of files) {
    count.passed += file.passed
    count.skipped += file.skipped
    count.failed += file.isBroken ? Math.max(1, file.failed.length) : file.failed.length
  }
  count.failed += unhandled
  return exitCode !== 0 && count.failed === 0 ? { ...count, failed: 1 } : count
}

/** Files of a stage that may be run again: a few. Where many fail, or an error has no test, it is not chance. */
const RUN_AGAIN = 3

/** The files that failed, as far as a second run can tell whether they fail always. */
export function toRunAgain(report: StageReport | undefined): string[] {
  if (report === undefined || report.unhandled > 0) return []
  const broken = report.files.filter(({ isBroken }) => isBroken).map(({ file }) => file)
  return broken.length > RUN_AGAIN ? [] : broken
}

/**
 * The report of a stage with the files that were run again as they ended then.
 * @returns also the tests that failed at first only
 */
export function withSecondRun(first: StageReport, second: StageReport): { report: StageReport; flaky: string[] } {
  const again = new Map(second.files.map((file) => [file.file, file]))
  const flaky = first.files.flatMap(({ file, failed, isBroken }) => {
    const now = again.get(file)
    if (!isBroken || now === undefined || now.isBroken) return []
    return failed.length === 0 ? [file] : failed.map((name) => `${file}: ${name}`)
  })
  const files = first.files.map((file) => again.get(file.file) ?? file)
  return { report: { files, unhandled: first.unhandled + second.unhandled }, flaky }
}

export function addCounts(a: StageCount, b: StageCount): StageCount {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped }
}

export function summaryLine({ passed, failed, skipped }: StageCount): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
