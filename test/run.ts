/**
 * Runs all tests, one stage after another, and ends with one line that sums them up: `N passed, N failed`. Stages can
 * be named: `node test/run.ts unit integration`.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type StageCount, addCounts, countStage, summaryLine } from './summary.ts'

const root = dirname(import.meta.dirname)
const allStages = ['unit', 'integration', 'e2e']

/** Runs one stage; its output goes to the terminal as it comes. */
async function runStage(stage: string, reportFile: string): Promise<StageCount> {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const args = ['run', '--project', stage, '--passWithNoTests']
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
  const child = spawn(process.execPath, [vitest, ...args, ...reporters], {
    cwd: root,
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: join(root, '.cache', 'node-compile'), ...process.env },
  })
  const exitCode = await new Promise<number>((resolve) => {
    child.once('error', () => resolve(-1))
    child.once('close', (code) => resolve(code ?? -1))
  })
  return countStage(readReport(reportFile), exitCode)
}

function readReport(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
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
  const count = await runStage(stage, join(folder, `${stage}.json`))
  total = addCounts(total, count)
  lines.push(`${stage}: ${summaryLine(count)}`)
}
rmSync(folder, { recursive: true, force: true })
if (total.passed + total.failed === 0) lines.push('no test ran, which counts as a failure')
process.stdout.write(`\n${lines.join('\n')}\n${summaryLine(total)}\n`)
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0
