import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import type { FileReport, StageReport } from './summary.ts'

/** Writes what became of each file into the file that `TEST_REPORT_FILE` names. For `test/run.ts`. */
export default class StageReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const file = process.env['TEST_REPORT_FILE']
    if (file === undefined) return
    const report: StageReport = { files: modules.map(fileReport), unhandled: unhandled.length }
    writeFileSync(file, JSON.stringify(report))
  }
}

function fileReport(module: TestModule): FileReport {
  const tests = [...module.children.allTests()]
  const inState = (state: string) => tests.filter((test) => test.result().state === state)
  return {
    file: relative(process.cwd(), module.moduleId),
    passed: inState('passed').length,
    failed: inState('failed').map(({ fullName }) => fullName),
    skipped: inState('skipped').length,
    isBroken: module.state() !== 'passed' && module.state() !== 'skipped',
  }
}
