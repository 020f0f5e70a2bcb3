import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { dirname } from 'node:path'
import { ConfigError, errorMessage } from '#libs/kernel'
import { jobsOf } from './jobs.ts'
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
  const results: Record<string, object> = {}
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
  if (failed.length > 0) progress(`failed: ${failed.join(', ')}`)
  return failed.length === 0
}

type Told = { name: string; load: number; seconds: number; text?: string; result?: object; error?: string }

async function* told(options: BenchOptions): AsyncGenerator<Told, void, void> {
  for await (const done of runJobs(options, jobsOf(options), progress)) {
    progress(`${done.name}: ${done.seconds.toFixed(0)} s, load before ${done.load.toFixed(1)}`)
    yield done
  }
}

try {
  if (process.argv.includes('--help')) process.stdout.write(USAGE)
  else if (!(await bench(parseOptions(process.argv.slice(2))))) process.exitCode = 1
} catch (error) {
  process.stderr.write(`bench: ${errorMessage(error)}\n`)
  process.exitCode = error instanceof ConfigError ? 2 : 1
}
