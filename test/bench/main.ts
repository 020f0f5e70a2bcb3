import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { ConfigError, errorMessage } from '#libs/kernel'
import { type Results, chartsOf } from './charts.ts'
import { jobsOf } from './jobs.ts'
import { stopAll } from './launch.ts'
import { type BenchOptions, USAGE, parseOptions } from './options.ts'
import { runJobs } from './run-jobs.ts'

function progress(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** @returns whether every scenario came to its end */
async function bench(options: BenchOptions): Promise<boolean> {
  const machine = {
    cpus: cpus().length,
    model: cpus()[0]?.model ?? '',
    memoryGigabytes: Math.round(totalmem() / 1024 ** 3),
    node: process.version,
    at: new Date().toISOString(),
  }
  const load = loadavg().map((average) => average.toFixed(1))
  process.stdout.write(
    `${machine.cpus} × ${machine.model}, ${machine.memoryGigabytes} GB, Node ${machine.node}; load ${load.join(' ')}\n`,
  )
  const results: Record<string, { result?: object }> = {}
  const failed: string[] = []
  for await (const { name, text, ...done } of told(options)) {
    results[name] = done
    if (text === undefined) failed.push(name)
    process.stdout.write(`\n## ${name}\n\n${text ?? `failed: ${String(done.error)}`}\n`)
    // After each: hours of measuring are not to be lost to what comes last.
    mkdirSync(dirname(options.json), { recursive: true })
    writeFileSync(options.json, `${JSON.stringify({ machine, options, results }, undefined, 2)}\n`)
  }
  progress(`written to ${options.json}`)
  draw(options.charts, results)
  if (failed.length > 0) progress(`failed: ${failed.join(', ')}`)
  return failed.length === 0
}

function draw(folder: string | undefined, results: Results): void {
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  for (const [name, svg] of chartsOf(results)) writeFileSync(join(folder, name), svg)
}

/** Runs what the command line asks for. @returns whether all of it came to its end */
async function run(args: readonly string[]): Promise<boolean> {
  const options = parseOptions(args)
  if (options.from === undefined) return bench(options)
  const { results } = JSON.parse(readFileSync(options.from, 'utf8')) as { results: Results }
  draw(options.charts, results)
  return true
}

type Told = { name: string; load: number; seconds: number; text?: string; result?: object; error?: string }

async function* told(options: BenchOptions): AsyncGenerator<Told, void, void> {
  for await (const done of runJobs(options, jobsOf(options), progress)) {
    progress(`${done.name}: ${done.seconds.toFixed(0)} s, load before ${done.load.toFixed(1)}`)
    yield done
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // What was started is in groups of its own, and would be left.
  process.once(signal, () => void stopAll().finally(() => process.exit(130)))
}

try {
  if (process.argv.includes('--help')) process.stdout.write(USAGE)
  else if (!(await run(process.argv.slice(2)))) process.exitCode = 1
} catch (error) {
  process.stderr.write(`bench: ${errorMessage(error)}\n`)
  process.exitCode = error instanceof ConfigError ? 2 : 1
}
// A scenario that failed in the middle may have left watches open.
if (process.exitCode !== undefined) await stopAll().finally(() => process.exit())
