/** Plays fault schedules: one by its seed, or one after another with new seeds. See docs/testing.md. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FaultsOptions, USAGE, parseFaultsOptions } from './options.ts'
import { planSchedule } from './plan.ts'
import { play } from './play.ts'

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** @returns whether all was well */
async function playSeed(options: FaultsOptions, seed: number): Promise<boolean> {
  const { tenants, pods, seconds, classes, separate, rivals } = options
  const plan = planSchedule({ seed, tenants, pods, seconds, classes })
  const folder = mkdtempSync(join(tmpdir(), `causeway-faults-${seed}-`))
  const lines: string[] = []
  const tell = (line: string): void => {
    lines.push(line)
    if (options.verbose) say(`  ${line}`)
  }
  const startedAt = Date.now()
  const mode = { separate: separate ?? seed % 4 !== 0, rivals: rivals ?? seed % 2 === 1 }
  const again = replayLine(options, seed)
  say(`seed ${seed}: ${plan.work.length} steps of work, ${plan.faults.length} faults · ${again}`)
  let problems: string[]
  try {
    const played = await play({ plan, folder, ...mode, convergeMs: options.convergeSeconds * 1_000, tell })
    problems = played.problems
    const figures = Object.entries(played.figures).map(([name, value]) => `${name} ${value}`)
    say(`  ${figures.join(', ')}; ${((Date.now() - startedAt) / 1_000).toFixed(0)} s in all`)
    for (const line of played.leftOut) say(`  left out: ${line}`)
  } catch (error) {
    problems = [`harness: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`]
  }
  if (problems.length === 0) {
    rmSync(folder, { recursive: true, force: true })
    say('  all is well')
    return true
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'report.txt'), [again, ...lines, ...problems, ''].join('\n'))
  say(`  ${problems.length} problems; everything is in ${folder}; play it again with ${again}`)
  for (const problem of problems.slice(0, 20)) say(`  - ${problem}`)
  return false
}

function replayLine({ tenants, pods, seconds, faults, separate, rivals }: FaultsOptions, seed: number): string {
  const flags = [
    `--seed ${seed} --tenants ${tenants} --pods ${pods} --seconds ${seconds}`,
    ...(faults === undefined ? [] : [`--faults ${faults}`]),
    ...(separate === undefined ? [] : [`--mode ${separate ? 'separate' : 'one'}`]),
    ...(rivals === undefined ? [] : [`--rivals ${rivals ? 'yes' : 'no'}`]),
  ]
  return `npm run faults -- ${flags.join(' ')}`
}

if (process.argv.includes('--help')) {
  process.stdout.write(USAGE)
  process.exit(0)
}
const options = parseFaultsOptions(process.argv.slice(2))
if (typeof options === 'string') {
  process.stderr.write(`${options}\n`)
  process.exit(2)
}
const deadline = Date.now() + options.minutes * 60_000
const failed: number[] = []
let played = 0
for (let seed = options.seed ?? Date.now() % 1_000_000; ; seed++) {
  played += 1
  if (!(await playSeed(options, seed))) failed.push(seed)
  if (options.minutes === 0 || Date.now() > deadline) break
}
say(failed.length === 0 ? `${played} seeds, all well` : `${played} seeds, not well: ${failed.join(', ')}`)
process.exit(failed.length === 0 ? 0 : 1)
