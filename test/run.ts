/**
 * Runs all tests, one stage after another, and ends with one line that sums them up: `N passed, N failed`. Stages can
 * be named: `node test/run.ts unit integration`.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  type StageCount,
  type StageReport,
  addCounts,
  countStage,
  summaryLine,
  toRunAgain,
  withSecondRun,
} from './summary.ts'

const root = dirname(import.meta.dirname)
const allStages = ['unit', 'integration', 'e2e']

/** Runs one stage, or some of its files; its output goes to the terminal as it comes. */
async function runVitest(
  stage: string,
  files: string[] = [],
): Promise<{ report: StageReport | undefined; exitCode: number }> {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const reportFile = join(folder, `${stage}.json`)
  rmSync(reportFile, { force: true })
  const args = ['run', '--project', stage, '--passWithNoTests', ...files]
  const reporters = ['--reporter=default', `--reporter=${join(import.meta.dirname, 'reporter.ts')}`]
  const child = spawn(process.execPath, [vitest, ...args, ...reporters], {
    cwd: root,
    stdio: 'inherit',
    env: {
      NODE_COMPILE_CACHE: join(root, '.cache', 'node-compile'),
      ...process.env,
      TEST_REPORT_FILE: reportFile,
    },
  })
  const exitCode = await new Promise<number>((resolve) => {
    child.once('error', () => resolve(-1))
    child.once('close', (code) => resolve(code ?? -1))
  })
  return { report: readReport(reportFile), exitCode }
}

/** Runs one stage, and once more, alone, what failed in it: a test that passes then is told as flaky. */
async function runStage(stage: string): Promise<{ count: StageCount; flaky: string[] }> {
  const { report, exitCode } = await runVitest(stage)
  const again = toRunAgain(report)
  if (report === undefined || again.length === 0) return { count: countStage(report, exitCode), flaky: [] }
  process.stdout.write(`\n=== ${stage}, once more: ${again.join(', ')} ===\n`)
  const second = await runVitest(stage, again)
  if (second.report === undefined) return { count: countStage(report, exitCode), flaky: [] }
  const both = withSecondRun(report, second.report)
  return { count: countStage(both.report, second.exitCode), flaky: both.flaky }
}

function readReport(file: string): StageReport | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as StageReport
  } catch {
    return undefined
  }
}

const chosen = process.argv.slice(2)
const unknown = chosen.filter((stage) => !allStages.includes(stage))
if (unknown.length > 0) {
  process.stderr.write(`unknown stage ${unknown.join(', ')}; there are ${allStages.join(', ')}\n`)
  process.exit(2)
}
const stages = chosen.length > 0 ? chosen : allStages
const folder = mkdtempSync(join(tmpdir(), 'causeway-test-'))
const lines: string[] = []
let total: StageCount = { passed: 0, failed: 0, skipped: 0 }
for (const stage of stages) {
  process.stdout.write(`\n=== ${stage} ===\n`)
  const { count, flaky } = await runStage(stage)
  total = addCounts(total, count)
  lines.push(`${stage}: ${summaryLine(count)}`, ...flaky.map((name) => `flaky, passed only when run again: ${name}`))
}
rmSync(folder, { recursive: true, force: true })
if (total.passed + total.failed === 0) lines.push('no test ran, which counts as a failure')
process.stdout.write(`\n${lines.join('\n')}\n${summaryLine(total)}\n`)
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0
