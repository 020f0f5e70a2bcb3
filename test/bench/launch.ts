import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { CausewayError } from '#libs/kernel'

/** As deploy/bin/causeway has them. */
const NODE_FLAGS = ['--max-semi-space-size=16']
const MALLOC = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '1048576' }

/** Compiled code is kept, as there: a start that reads it is what users have. */
const COMPILE_CACHE = fileURLToPath(new URL('../../.cache/node-compile', import.meta.url))

/** What was started and has not ended. */
const running = new Set<ChildProcess>()

const services = fileURLToPath(new URL('../../services/', import.meta.url))

/** Runs a service on this Node. In a group of its own: signals of the terminal reach it through us, in order. */
export function startNode(
  module: string,
  args: readonly string[],
  { cpuProfDir, env = {} }: { cpuProfDir: string | undefined; env?: Record<string, string> | undefined },
): ChildProcess {
  if (cpuProfDir !== undefined) mkdirSync(cpuProfDir, { recursive: true })
  // In the environment, so that it holds for the processes that it starts, too.
  const profile = cpuProfDir === undefined ? '' : `--cpu-prof --cpu-prof-dir=${resolve(cpuProfDir)}`
  const flags = [env['NODE_OPTIONS'] ?? '', profile].join(' ').trim()
  const child = spawn(process.execPath, [...NODE_FLAGS, join(services, module), ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: {
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...MALLOC,
      ...process.env,
      ...env,
      ...(flags === '' ? {} : { NODE_OPTIONS: flags }),
      CAUSEWAY_LOG_LEVEL: 'warn',
    },
    detached: true,
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

/** Ends whatever was started, last first: what it has started ends with it. */
export async function stopAll(): Promise<void> {
  for (const child of [...running].toReversed()) await stop(child)
}

/** @throws CausewayError `BenchFailed` when the process ends before it has said a line */
export async function firstLine(child: ChildProcess): Promise<string> {
  const { stdout } = child
  if (stdout === null) throw new CausewayError('the process has no output', { code: 'BenchFailed' })
  return new Promise((done, fail) => {
    createInterface({ input: stdout }).once('line', done)
    child.once('error', fail)
    child.once('exit', (code, signal) =>
      fail(
        new CausewayError(
          `${child.spawnargs.slice(2).join(' ').slice(0, 200)} ended at its start (${signal ?? code})`,
          {
            code: 'BenchFailed',
          },
        ),
      ),
    )
  })
}

/** Runs a command to its end, whatever it finds. @returns how long that took, seconds */
export async function timeCommand(args: readonly string[]): Promise<number> {
  const begun = performance.now()
  const child = startNode('cli/main.ts', args, { cpuProfDir: undefined })
  child.stdout?.resume()
  const status = await new Promise<number | null>((done) => child.once('close', done))
  if (status === null || status > 1) {
    throw new CausewayError(`causeway ${args.join(' ')} failed (${status})`, { code: 'BenchFailed' })
  }
  return (performance.now() - begun) / 1_000
}

/** Ends a process in order, and waits for that. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise((done) => child.once('exit', done))
  child.kill('SIGTERM')
  await exited
}
